// Package actiontest is the conformance suite that every action passes: looking changes nothing, acting does what was meant
// and may be repeated if the action says so, an act that is cut off can be completed, and undoing leaves no trace.
package actiontest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/internal/document"
)

// Subject is an action with inputs and something real for it to act on.
type Subject struct {
	Action  action.Action
	With    string // inputs, as YAML
	Cluster *cluster.Cluster
	// Snapshot describes all that acting can change. It must not change by itself.
	Snapshot func(t *testing.T) string
	// Always says that the action is needed again when it is done: a restart, a pause.
	Always bool
	// Again makes an action that cannot be undone needed again; nil if it can be undone, or is always needed.
	Again func(t *testing.T)
	// Meanwhile brings about what the action only waits for, once it tells that it waits; nil: nothing has to.
	Meanwhile func(ctx context.Context) error
	// Cuts are the moments at which an act is cut off. Default: at once, 5 ms and 50 ms.
	Cuts []time.Duration
}

// Run runs the suite, until a part of it fails: what comes after would start from an unknown state. When it ends, everything is as it was
// before, if the action can undo.
func Run(t *testing.T, s Subject) {
	t.Helper()
	if s.Cuts == nil {
		s.Cuts = []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond}
	}
	t.Run("describes itself", s.describes)
	if !t.Run("looking changes nothing", s.looks) || !t.Run("acts, and again", s.acts) {
		return
	}
	for _, cut := range s.Cuts {
		if !t.Run("cut off after "+cut.String(), func(t *testing.T) { s.cutOff(t, cut) }) {
			return
		}
	}
	t.Run("undoes without a trace", s.undoes)
}

func (s Subject) task(t *testing.T) action.Task {
	t.Helper()
	with, err := document.Parse("with", []byte(s.With))
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.Action.Bind(with)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func (s Subject) describes(t *testing.T) {
	a := s.Action
	if a.Name == "" || a.Version < 1 || a.About == "" {
		t.Errorf("name %q, version %d, about %q", a.Name, a.Version, a.About)
	}
	for key, property := range a.Schema()["properties"].(map[string]any) {
		if property.(map[string]any)["description"] == nil {
			t.Errorf("input %s has no doc", key)
		}
	}
	odd, err := document.Parse("with", []byte("no_such_input: 1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Bind(odd); err == nil {
		t.Error("an unknown input was accepted")
	}
	task := s.task(t)
	_, own := task.(action.Undoer)
	if n := task.Traits(); (n.Effect == action.Reversible || n.Effect == action.Lasting) && !own {
		t.Error("reversible, without an undo")
	}
	if n := task.Traits(); n.Interruptible && !n.Repeatable {
		t.Error("interruptible, and not repeatable")
	}
}

func (s Subject) check(t *testing.T, task action.Task) action.CheckResult {
	t.Helper()
	reading := s.Cluster.ReadOnly()
	defer func() { _ = reading.Close() }()
	f, err := task.Check(t.Context(), reading)
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	return f
}

// needed looks and expects that there is something to do.
func (s Subject) needed(t *testing.T, task action.Task) action.CheckResult {
	t.Helper()
	f := s.check(t, task)
	if f.State != action.Needed {
		t.Fatalf("found %+v, want needed", f)
	}
	return f
}

// done looks and expects that nothing is left to do.
func (s Subject) done(t *testing.T, task action.Task, output action.Facts) {
	t.Helper()
	if v, ok := task.(action.Verifier); ok {
		if err := v.Verify(t.Context(), s.Cluster.ReadOnly(), output); err != nil {
			t.Errorf("verify: %v", err)
		}
	} else if s.Always {
		t.Error("always needed, without a Verify")
	}
	if f := s.check(t, task); !s.Always && f.State != action.Satisfied {
		t.Errorf("after the act: %+v", f)
	}
}

func (s Subject) call(attempt int, f action.CheckResult) action.Call {
	return action.Call{
		Run: "actiontest", Step: "s", Attempt: attempt, Token: "actiontest-token", Epoch: 1, Since: time.Now(), Before: f.Observed,
		Progress: func(float64, string) {},
	}
}

func (s Subject) looks(t *testing.T) {
	before := s.Snapshot(t)
	task := s.task(t)
	first := s.needed(t, task)
	second := s.needed(t, task)
	if a, b := nodeText(first.Observed), nodeText(second.Observed); a != b {
		t.Errorf("two looks saw %s and %s: an approval would not hold", a, b)
	}
	if after := s.Snapshot(t); after != before {
		t.Errorf("looking changed\n%s\nto\n%s", before, after)
	}
}

func nodeText(f action.Facts) string {
	text := ""
	for _, key := range document.SortedKeys(f) {
		text += key + "=" + fmt.Sprint(f[key]) + " "
	}
	return text
}

// patience is how long an act may take that is to end: one that waits for ever fails, and not the whole test with it.
const patience = 10 * time.Minute

// act acts to the end. One that waits must have found what it waits for when it returns, whatever comes about later.
func (s Subject) act(t *testing.T, task action.Task, c action.Call) (action.Facts, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var beside sync.WaitGroup
	defer beside.Wait()
	if s.Meanwhile != nil {
		begin := sync.OnceFunc(func() {
			beside.Go(func() {
				if err := s.Meanwhile(ctx); err != nil {
					t.Errorf("what it waits for: %v", err)
				}
			})
		})
		c.Progress = func(float64, string) { begin() }
	}
	output, err := task.Act(ctx, s.Cluster, c)
	if s.Meanwhile != nil && err == nil {
		s.done(t, task, output)
	}
	return output, err
}

func (s Subject) acts(t *testing.T) {
	before := s.Snapshot(t)
	task := s.task(t)
	f := s.needed(t, task)
	output, err := s.act(t, task, s.call(1, f))
	if err != nil {
		t.Fatalf("act: %v", err)
	}
	s.done(t, task, output)
	after := s.Snapshot(t)
	if task.Traits().Effect != action.None && !s.Always && before == after {
		t.Error("the act changed nothing that the snapshot shows")
	}
	if task.Traits().Repeatable {
		again, err := s.act(t, task, s.call(2, f))
		if err != nil {
			t.Errorf("act again: %v", err)
		}
		s.done(t, task, again)
		if now := s.Snapshot(t); now != after {
			t.Errorf("acting again made\n%s\nof\n%s", now, after)
		}
	}
	s.restore(t, task, f)
}

// soon is how long an interruptible act may take to end, on a busy machine.
const soon = time.Minute

// cutOff acts with a context that ends in the middle, as a crash would, and goes on as the interpreter does: wait for what
// is under way, look, act again if it is needed and repeatable.
func (s Subject) cutOff(t *testing.T, after time.Duration) {
	task := s.task(t)
	f := s.needed(t, task)
	ctx, cancel := context.WithTimeout(t.Context(), after)
	acted := make(chan struct{})
	go func() {
		defer close(acted)
		_, _ = task.Act(ctx, s.Cluster, s.call(1, f))
	}()
	<-ctx.Done()
	select {
	case <-acted:
	case <-time.After(soon):
		if task.Traits().Interruptible {
			t.Errorf("it says that it is interruptible, and goes on %s after it was cut off", soon)
		}
		<-acted
	}
	cancel()
	if left, ok := task.(action.InFlightWaiter); ok {
		if err := left.AwaitInFlight(t.Context(), s.Cluster, s.call(1, f)); err != nil {
			t.Fatalf("settle: %v", err)
		}
	}
	task = s.task(t) // nothing in memory survives a crash
	found := s.check(t, task)
	switch {
	case found.State == action.Satisfied:
	case !task.Traits().Repeatable:
		t.Logf("it would ask a person: %+v", found)
	case found.State == action.Needed:
		output, err := s.act(t, task, s.call(2, f))
		if err != nil {
			t.Fatalf("act again: %v", err)
		}
		s.done(t, task, output)
	default:
		t.Errorf("after the cut: %+v", found)
	}
	s.restore(t, task, f)
}

// undoTime is how long an undo may take in a lab. MySQL that cannot shrink its buffer pool at once tries again after ever longer waits.
const undoTime = 5 * time.Minute

func (s Subject) undoes(t *testing.T) {
	task := s.task(t)
	u, ok := task.(action.Undoer)
	if !ok || task.Traits().Effect != action.Reversible {
		t.Skip("it has no undo")
	}
	before := s.Snapshot(t)
	f := s.needed(t, task)
	if _, err := s.act(t, task, s.call(1, f)); err != nil {
		t.Fatalf("act: %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), undoTime, fmt.Errorf("it was timed out after %s", undoTime))
	defer cancel()
	for range 2 { // an undo that was cut off is done again
		if err := u.Undo(ctx, s.Cluster, s.call(1, f)); err != nil {
			t.Fatalf("undo: %v", err)
		}
		if after := s.Snapshot(t); after != before {
			t.Errorf("undoing left\n%s\nof\n%s", after, before)
		}
	}
	s.needed(t, task)
}

func (s Subject) restore(t *testing.T, task action.Task, f action.CheckResult) {
	t.Helper()
	if u, ok := task.(action.Undoer); ok && task.Traits().Effect == action.Reversible {
		ctx, cancel := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("it was timed out after %s", patience))
		defer cancel()
		if err := u.Undo(ctx, s.Cluster, s.call(1, f)); err != nil {
			t.Fatalf("undo: %v", err)
		}
	} else if s.Again != nil {
		s.Again(t)
	}
}
