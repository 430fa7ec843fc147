package execute

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// lever is an act that nothing takes back, over a state of which its check tells; it dies where it is told to.
type lever struct {
	Name string `yaml:"name,required"`
	Dies string `yaml:"dies"`

	world map[string]string
}

func (l *lever) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (l *lever) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"at": l.world[l.Name]}, Intended: action.Facts{"at": "done"}}
	if l.world[l.Name] == "mute" {
		return f, errors.New("it does not answer")
	}
	if l.world[l.Name] == "done" {
		f.State = action.Satisfied
	}
	return f, nil
}

func (l *lever) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	switch l.Dies {
	case "before":
		return nil, &hint.PermanentError{Reason: "it is refused"}
	case "says so":
		l.world[l.Name] = "mute" // which could not be asked any more
		return nil, action.NothingDone{Err: errors.New("it gave up before it began")}
	case "half-way":
		l.world[l.Name] = "half"
		return nil, &hint.PermanentError{Reason: "it broke off"}
	}
	l.world[l.Name] = "done"
	if l.Dies == "after" {
		return nil, &hint.PermanentError{Reason: "it lost its connection"}
	}
	return nil, nil
}

// What was only intended is looked at before it is called anything: an act that did nothing is no obstacle to taking back what came
// before it, neither for a person nor for the runbook itself; one that was done, or half done, is.
func TestAnIntendedActIsLookedAtBeforeItIsCalledDone(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"stop", "undo"} {
		for dies, want := range map[string]struct {
			outcome journal.Outcome
			refused string
		}{
			"before":   {journal.RunUndone, ""},
			"says so":  {journal.RunUndone, ""},
			"half-way": {journal.RunFailed, "step b is half done: it is now at half; before it was at none, and intended was at done, and cannot be undone; what stays done: a, b"},
			"after":    {journal.RunFailed, "step b is done, as a check found, and cannot be undone; what stays done: a, b. The safe way is forward: plimsoll runbook resume "},
		} {
			b, world := newBench(t), map[string]string{}
			b.Actions = append(b.Actions, action.Action{Name: "test.lever", Version: 1, About: "Moves.", New: func() action.Task { return &lever{world: world} }})
			run := b.begin(Request{Book: b.parse(`
runbook: test/levers
on_failure: ` + by + `
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm -f DIR/a"}}
  - {id: b, uses: test.lever, with: {name: b, dies: "` + dies + `"}}
  - {id: c, uses: test.lever, with: {name: c}}
`)})
			b.put("a", "")
			b.remove("a")
			st := b.runSession(run, journal.Command{Do: "run"})
			if by == "stop" || want.outcome != journal.RunUndone {
				st = b.runSession(run, journal.Command{Do: "cancel", Undo: true})
			}
			if st.Outcome != want.outcome || !strings.Contains(st.Refused, want.refused) || (want.refused == "") != (st.Refused == "") {
				t.Errorf("%s, fails %s: %q, refused %q, want %q", by, dies, st.Outcome, st.Refused, want.refused)
			}
			lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1"))
			if held := want.outcome == journal.RunFailed; err != nil || (lease.Holder == run) != held {
				t.Errorf("%s, fails %s: the cluster is held by %q, %v", by, dies, lease.Holder, err)
			}
		}
	}
}

// A cluster is given back as it is only when a person says so: without that the cancellation is not taken, and says what to do; each
// of the three ways that it names is gone.
func TestAClusterIsGivenBackAsItIsOnlyWhenAPersonSaysSo(t *testing.T) {
	t.Parallel()
	for _, way := range []journal.Command{{Do: "cancel", Undo: true}, {Do: "resume"}, {Do: "cancel", Leave: "enough for today"}} {
		b := newBench(t)
		run := b.begin(Request{Book: b.parse(mending)})
		b.runSession(run, journal.Command{Do: "run"})
		st := b.runSession(run, journal.Command{Do: "cancel"})
		if st.Outcome != journal.RunFailed || !strings.Contains(st.Refused, "what stays done: a. plimsoll runbook cancel "+run+" --undo undoes it, plimsoll runbook resume "+run+
			" continues it, plimsoll runbook cancel "+run+" --leave REASON releases the cluster as it is") {
			t.Fatalf("outcome %q, %q", st.Outcome, st.Refused)
		}
		b.put("mended", "")
		want := map[journal.Verb]journal.Outcome{"resume": journal.RunDone, "cancel": journal.RunCancelled}[way.Do]
		if way.Undo {
			want = journal.RunUndone
		}
		if st := b.runSession(run, way); st.Outcome != want {
			t.Errorf("%+v: %q, want %q", way, st.Outcome, want)
		}
	}
}

const mending = `
runbook: test/mending
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm -f DIR/a"}}
  - {id: b, uses: command, with: {run: "test -e DIR/mended", effect: none}}
`

// departed is an act whose server is lost while it acts, and of which something goes on until it is told to end.
type departed struct {
	asked, ends chan struct{}
}

func (d *departed) Traits() action.Traits { return action.Traits{Effect: action.Irreversible} }

func (d *departed) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed}, nil
}

func (d *departed) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, &engine.Error{Lost: true, Text: "the connection is gone"}
}

func (d *departed) AwaitInFlight(ctx context.Context, _ *cluster.Cluster, _ action.Call) error {
	close(d.asked)
	select {
	case <-d.ends:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// What still runs is waited for before its cluster is given back.
func TestWhatStillRunsIsWaitedForByACancellation(t *testing.T) {
	t.Parallel()
	b, d := newBench(t), &departed{make(chan struct{}), make(chan struct{})}
	b.Actions = append(b.Actions, action.Action{Name: "test.departed", Version: 1, About: "Goes on.", New: func() action.Task { return d }})
	run := b.begin(Request{Book: b.parse("runbook: test/outlives\nsteps:\n  - {id: a, uses: test.departed}\n")})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed {
		t.Fatal(st.Outcome)
	}
	e := b.started(run, journal.Command{Do: "cancel", Leave: "it is late"})
	<-d.asked
	if st := b.stateOf(run); st.Outcome != "" || st.Stopping == nil {
		t.Errorf("given back while it still runs: %q", st.Outcome)
	}
	close(d.ends)
	if err := e.Wait(t.Context(), run); err != nil {
		t.Error(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunCancelled {
		t.Errorf("outcome %q", st.Outcome)
	}
}

// A cancellation that was cut off, and is said again, is still not taken; the run then goes on where it was. So does one of which all
// steps are done, and whose end alone is missing.
func TestACancellationThatWasCutOffLeavesTheWayForward(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		events int // of the run, and of its cancellation after that
	}{{"in the middle", 9}, {"before its end", 13}} {
		b, world := newBench(t), map[string]string{}
		b.Actions = append(b.Actions, action.Action{Name: "test.lever", Version: 1, About: "Moves.", New: func() action.Task { return &lever{world: world} }})
		book := b.parse("runbook: test/forward\nsteps:\n  - {id: a, uses: test.lever, with: {name: a}}\n  - {id: b, uses: test.lever, with: {name: b}}\n")
		run := b.begin(Request{Book: book})
		b.runSession(run, journal.Command{Do: "run"})
		entries, err := b.Store.Entries(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		st, err := journal.Fold(entries[:min(c.events, len(entries)-1)], b.Actions)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []journal.Event{{Kind: journal.Opened, Order: &journal.Command{Do: "cancel", Undo: true}}, {Kind: journal.Opened, Order: &journal.Command{Do: "cancel", Undo: true}}} {
			if err := st.ApplyEvent(e, b.Actions); err != nil {
				t.Fatal(err)
			}
		}
		r := &runner{state: st, journal: &durable.Journal{}}
		if refused := r.refusal(); !strings.Contains(refused, "step a is done, and cannot be undone") {
			t.Errorf("%s: %q", c.name, refused)
		}
		if err := st.ApplyEvent(journal.Event{Kind: journal.Parked, Forward: true, Reason: "x"}, b.Actions); err != nil {
			t.Fatal(err)
		}
		if st.Stopping != nil || st.Undoing || st.Outcome != "" || st.Refused != "x" {
			t.Errorf("%s: it stays cancelled: %+v, %q", c.name, st.Stopping, st.Outcome)
		}
	}
}

// refusing is an action that refuses, maybe the whole run.
type refusing struct{ whole bool }

func (r *refusing) Traits() action.Traits { return action.Traits{} }

func (r *refusing) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, nil
}

func (r *refusing) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{}, &hint.PermanentError{Reason: "n1 is the primary already", Whole: r.whole}
}

// A plan lists what every step says, except after one that refuses the whole run: then nothing else matters.
func TestAPlanEndsWithTheStepThatRefusesTheWholeRun(t *testing.T) {
	t.Parallel()
	for whole, steps := range map[bool]int{false: 2, true: 1} {
		b := newBench(t)
		b.Actions = append(b.Actions, action.Action{Name: "test.refuses", Version: 1, About: "Refuses.", New: func() action.Task { return &refusing{whole: whole} }})
		p, err := b.Prepare(t.Context(), Request{Cluster: "lab1", Book: b.parse(`
runbook: test/refused
steps:
  - {id: check, uses: test.refuses}
  - {id: act, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Header.Plan.Steps; len(got) != steps || p.Trouble() == nil {
			t.Errorf("whole %v: %+v, %v", whole, got, p.Trouble())
		}
	}
}
