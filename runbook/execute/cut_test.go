package execute

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// yields waits for the file go, and may be ended before; firmly must not.
const yields = `
runbook: test/yields
guardrails:
  - {name: load, when: db.load > 10, for: 0s}
steps:
  - id: a
    uses: command
    with: {run: "echo x >> DIR/began; until test -e DIR/go; do sleep 0.02; done; touch DIR/a", check: "test -e DIR/a", repeatable: true, interruptible: true}
`

func TestABreachCutsOffAnActThatMayBeAndNoOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, book string
		cuts       int
	}{
		{"it may be", yields, 1},
		{"it may not be", strings.Replace(yields, ", interruptible: true", "", 1), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			d := &dial{load: 1}
			b.Meter = func(*cluster.Cluster) Meter { return d }
			run := b.begin(Request{Book: b.parse(c.book)})
			e, err := b.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Start(t.Context(), e, run, journal.Command{Do: "run"}); err != nil {
				t.Fatal(err)
			}
			b.until(run, func(*journal.State) bool { return b.read("began") != "" })
			d.set(100, nil)
			b.until(run, func(st *journal.State) bool {
				return st.Status() == "held" && len(b.events(run, journal.Cut)) == c.cuts
			})
			b.put("go", "")
			if c.cuts == 0 {
				b.until(run, func(st *journal.State) bool { return st.Item("a").Phase != journal.StepActing }) // it may end during the breach
			}
			d.set(1, nil)
			if err := e.Wait(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if st := b.stateOf(run); st.Outcome != journal.RunDone || len(b.events(run, journal.Cut)) != c.cuts || strings.Count(b.read("began"), "x") != c.cuts+1 {
				t.Errorf("outcome %q, %d cuts, began %q", st.Outcome, len(b.events(run, journal.Cut)), b.read("began"))
			}
		})
	}
}

func TestAnInterruptionDoesNotWaitForWhatOnlyWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/waits
steps:
  - {id: a, uses: wait, with: {run: "cat DIR/ready 2>/dev/null || echo no", want: "yes", every: 20ms}, timeout: 1h}
`)})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return len(st.Items) > 0 && st.Items[0].Phase == journal.StepActing })
	if err := e.Close(t.Context()); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Status() != "parked" || len(b.events(run, journal.Cut)) != 1 {
		t.Fatalf("status %q", st.Status())
	}
	b.put("ready", "yes")
	if st := b.runSession(run, journal.Command{Do: "resume"}); st.Outcome != journal.RunDone || st.Item("a").Failures != 0 {
		t.Errorf("outcome %q, %+v", st.Outcome, st.Item("a"))
	}
}

func TestAnOwnerWhoSleptBetweenIntentAndActDoesNotAct(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(strings.Replace(asking, "check:", "repeatable: false, check:", 1))})
	b.Observe = func(_ string, e journal.Event, _ time.Time) {
		if e.Kind == journal.Intended {
			takenBy(t, shared, "theirs")
		}
	}
	st := b.runSession(run, journal.Command{Do: "run"})
	if st.Status() != "parked" || b.read("a") != "" || len(b.events(run, journal.Intended)) != 1 || len(b.events(run, journal.Cut)) != 1 {
		t.Fatalf("status %q, %d cuts", st.Status(), len(b.events(run, journal.Cut)))
	}
	if cut := b.events(run, journal.Cut)[0].Text(); !strings.Contains(cut, "it did not begin: another run took the cluster") || strings.Contains(cut, "repeated") {
		t.Errorf("of a step that never goes on it is said: %s", cut)
	}
	if !strings.Contains(st.Why, "run theirs") || !strings.HasSuffix(st.Why, "; this run has changed nothing") {
		t.Errorf("parked: %s", st.Why)
	}
	// Theirs ends. What this one planned is of another cluster now: it does not go on by itself, and can be given up.
	b.Observe = nil
	givenBackBy(t, shared, "theirs")
	if err := b.tries(run, journal.Command{Do: "resume"}); err == nil || !strings.Contains(err.Error(), "another run held cluster lab1 in the meantime") {
		t.Errorf("it goes on: %v", err)
	}
	if st := b.runSession(run, journal.Command{Do: "cancel", Leave: "theirs"}); st.Outcome != journal.RunCancelled || b.read("a") != "" {
		t.Errorf("given up: %q", st.Outcome)
	}
}

func TestAnOwnerWhoSleptBeforeAnUndoDoesNotUndo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(failing)})
	b.runSession(run, journal.Command{Do: "run"})
	done := b.read("log")
	b.Observe = func(_ string, e journal.Event, _ time.Time) {
		if e.Kind == journal.Undoing {
			takenBy(t, shared, "theirs")
		}
	}
	st := b.runSession(run, journal.Command{Do: "cancel", Undo: true})
	if st.Status() != "parked" || st.Item("flaky").Phase != journal.StepUndoing || len(b.events(run, journal.Undone, journal.Stuck, journal.Cut)) != 0 || b.read("log") != done {
		t.Fatalf("status %q, %+v", st.Status(), st.Item("flaky"))
	}
	// Theirs ends: nothing is taken back in what they left either.
	b.Observe = nil
	givenBackBy(t, shared, "theirs")
	if err := b.tries(run, journal.Command{Do: "resume"}); err == nil || !strings.Contains(err.Error(), "another run held cluster lab1 in the meantime") {
		t.Errorf("it goes on: %v", err)
	}
	if b.read("log") != done {
		t.Errorf("taken back: log %q", b.read("log"))
	}
}

func TestAnActWhoseServerIsLostIsNotRepeatedBlindly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, with string
		acts       int
		asks       bool
	}{
		{"not repeatable", `{run: "true", check: "test -e DIR/done"}`, 1, true},
		{"repeatable", `{run: "true", check: "test -e DIR/done", repeatable: true}`, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			acts := 0
			b.Between = func(context.Context, action.Task, *cluster.Cluster, action.Call) (action.Facts, error) {
				acts++
				return nil, &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the server is gone"}
			}
			run := b.begin(Request{Book: b.parse("runbook: test/lost\nsteps: [{id: a, uses: command, retry: {max: 2, backoff: 1ms}, with: " + c.with + "}]\n")})
			st := b.runSession(run, journal.Command{Do: "run"})
			if i := st.Item("a"); st.Outcome != journal.RunFailed || acts != c.acts || i.Asks != c.asks || !i.Open {
				t.Errorf("outcome %q after %d acts: %+v", st.Outcome, acts, i)
			}
		})
	}
}

func TestAnActThatIsDeniedIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	acts := 0
	b.Between = func(context.Context, action.Task, *cluster.Cluster, action.Call) (action.Facts, error) {
		acts++
		return nil, &engine.Error{Kind: engine.Denied, Code: "1142", Text: "DELETE command denied to user 'ops'"}
	}
	run := b.begin(Request{Book: b.parse("runbook: test/denied\nsteps: [{id: a, uses: command, retry: {max: 2, backoff: 1ms}, with: {run: \"true\", check: \"test -e DIR/done\", repeatable: true}}]\n")})
	st := b.runSession(run, journal.Command{Do: "run"})
	if i := st.Item("a"); st.Outcome != journal.RunFailed || acts != 1 || i.Phase != journal.StepFailed {
		t.Errorf("outcome %q after %d acts: %+v", st.Outcome, acts, i)
	}
}
