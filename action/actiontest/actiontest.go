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
	var of acted
	if !t.Run("looking changes nothing", s.looks) || !t.Run("acts, and again", func(t *testing.T) { of = s.acts(t) }) ||
		!t.Run("undoes without a trace", func(t *testing.T) { s.undoes(t, &of) }) {
		return
	}
	if of.task != nil { // only acts was asked for, by go test -run
		s.restore(t, of)
	}
	for _, cut := range s.Cuts {
		if !t.Run("cut off after "+cut.String(), func(t *testing.T) { s.cutOff(t, cut) }) {
			return
		}
	}
}

// acted is a task that was carried out, and not undone.
type acted struct {
	task   action.Task
	found  action.CheckResult
	before string // the snapshot
}

// undoer is the task's undo; nil if it has none.
func (a acted) undoer() action.Undoer {
	if u, ok := a.task.(action.Undoer); ok && a.task.Traits().Effect == action.Reversible {
		return u
	}
	return nil
}

// Bind gives an action its inputs, in YAML.
func Bind(t testing.TB, a action.Action, with string) action.Task {
	t.Helper()
	said, err := document.Parse("with", []byte(with))
	if err != nil {
		t.Fatal(err)
	}
	task, err := a.Bind(said)
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	return task
}

// Find is the action of a name.
func Find(t testing.TB, all []action.Action, name string) action.Action {
	t.Helper()
	a, known := action.Find(all, name)
	if !known {
		t.Fatalf("no action %s", name)
	}
	return a
}

// Task is the action of a name with its inputs.
func Task(t testing.TB, all []action.Action, name, with string) action.Task {
	t.Helper()
	return Bind(t, Find(t, all, name), with)
}

func (s Subject) task(t *testing.T) action.Task {
	t.Helper()
	return Bind(t, s.Action, s.With)
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

// begin acts where it is needed.
func (s Subject) begin(t *testing.T) (of acted, output action.Facts) {
	t.Helper()
	of = acted{before: s.Snapshot(t), task: s.task(t)}
	of.found = s.needed(t, of.task)
	output, err := s.act(t, of.task, s.call(1, of.found))
	if err != nil {
		t.Fatalf("act: %v", err)
	}
	return of, output
}

// acts leaves what was done as it is, to be undone.
func (s Subject) acts(t *testing.T) acted {
	of, output := s.begin(t)
	s.done(t, of.task, output)
	after := s.Snapshot(t)
	if of.task.Traits().Effect != action.None && !s.Always && of.before == after {
		t.Error("the act changed nothing that the snapshot shows")
	}
	if of.task.Traits().Repeatable {
		again, err := s.act(t, of.task, s.call(2, of.found))
		if err != nil {
			t.Errorf("act again: %v", err)
		}
		s.done(t, of.task, again)
		if now := s.Snapshot(t); now != after {
			t.Errorf("acting again made\n%s\nof\n%s", now, after)
		}
	}
	return of
}

// soon is how long an interruptible act may take to end, on a busy machine.
const soon = time.Minute

// cutOff acts with a context that ends in the middle, as a crash would, and goes on as the interpreter does: wait for what
// is under way, look, act again if it is needed and repeatable.
func (s Subject) cutOff(t *testing.T, after time.Duration) {
	of := acted{before: s.Snapshot(t), task: s.task(t)}
	task := of.task
	f := s.needed(t, task)
	of.found = f
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
	of.task = task
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
	s.restore(t, of)
}

// undoTime is how long an undo may take in a lab. MySQL that cannot shrink its buffer pool at once tries again after ever longer waits.
const undoTime = 5 * time.Minute

// undoes takes back what was done; of nothing if go test -run asked for this alone: then it acts first.
func (s Subject) undoes(t *testing.T, of *acted) {
	if of.task == nil {
		*of, _ = s.begin(t)
	}
	defer func() { *of = acted{} }()
	u := of.undoer()
	if u == nil {
		s.restore(t, *of)
		t.Skip("it has no undo")
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), undoTime, fmt.Errorf("it was timed out after %s", undoTime))
	defer cancel()
	for range 2 { // an undo that was cut off is done again
		if err := u.Undo(ctx, s.Cluster, s.call(1, of.found)); err != nil {
			t.Fatalf("undo: %v", err)
		}
		if after := s.Snapshot(t); after != of.before {
			t.Errorf("undoing left\n%s\nof\n%s", after, of.before)
		}
	}
	s.needed(t, of.task)
}

// restore makes the action needed again: what can be undone, be it of an act that was cut off, leaves no trace.
func (s Subject) restore(t *testing.T, of acted) {
	t.Helper()
	if u := of.undoer(); u != nil {
		ctx, cancel := context.WithTimeoutCause(t.Context(), patience, fmt.Errorf("it was timed out after %s", patience))
		defer cancel()
		if err := u.Undo(ctx, s.Cluster, s.call(1, of.found)); err != nil {
			t.Fatalf("undo: %v", err)
		}
		if after := s.Snapshot(t); after != of.before {
			t.Errorf("undoing left\n%s\nof\n%s", after, of.before)
		}
	} else if s.Again != nil {
		s.Again(t)
	}
}
