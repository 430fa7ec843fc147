package execute

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/runbook/journal"
)

const stepsAgain = `
runbook: test/again
steps:
  - {id: a, uses: command, with: {run: "test ! -e DIR/fail && touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b", undo: "rm DIR/b", repeatable: true}}
  - {id: c, uses: command, with: {run: "test ! -e DIR/stop && touch DIR/c", check: "test -e DIR/c", undo: "rm -f DIR/c", repeatable: true}}
`

// there lists which of the steps' files there are.
func (b *bench) there() (all string) {
	for _, name := range []string{"a", "b", "c"} {
		if _, err := os.Stat(filepath.Join(b.folder, name)); err == nil {
			all += name
		}
	}
	return all
}

// After a run was undone a step is done again from the first that was, not on top of what is gone.
func TestRerunOfARunThatWasTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("stop", "")
	run := b.begin(Request{Book: b.parse(stepsAgain)})
	b.runSession(run, journal.Command{Do: "run"})
	if st := b.runSession(run, journal.Command{Do: "cancel", Undo: true}); st.Outcome != journal.RunUndone || b.there() != "" {
		t.Fatalf("cancelled: %q, there are %q", st.Outcome, b.there())
	}
	b.remove("stop")
	st := b.stateOf(run)
	if err := st.Rerunnable("b"); err == nil || !strings.Contains(err.Error(), "step a, before b, was undone") {
		t.Errorf("rerun of b: %v", err)
	}
	if err := st.Rerunnable("a"); err != nil {
		t.Errorf("rerun of a: %v", err)
	}
	// Without --downstream too: a step that was undone is not done.
	if st := b.runSession(run, journal.Command{Do: "rerun", Step: "a", Reason: "mended"}); st.Outcome != journal.RunDone || b.there() != "abc" {
		t.Errorf("rerun: %q, there are %q", st.Outcome, b.there())
	}
}

// A step whose undo failed may be half undone. It is not done, forward begins with it and finds what is missing, and a next undo is tried.
func TestForwardBeginsWithTheStepWhoseUndoFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/halfundone
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a; test -e DIR/mended", repeatable: true}}
  - {id: b, uses: command, with: {run: "touch DIR/b", check: "test -e DIR/b", undo: "rm DIR/b", repeatable: true}}
  - {id: c, uses: command, with: {run: "test ! -e DIR/stop && touch DIR/c", check: "test -e DIR/c", undo: "rm -f DIR/c", repeatable: true}}
`)})
	b.put("stop", "")
	b.runSession(run, journal.Command{Do: "run"})
	st := b.runSession(run, journal.Command{Do: "cancel", Undo: true})
	if st.Outcome != journal.RunFailed || b.there() != "" || journal.ShownPhase(st, st.Item("a")) != journal.StepUndoFailed {
		t.Fatalf("outcome %q, there are %q, a is shown as %q", st.Outcome, b.there(), journal.ShownPhase(st, st.Item("a")))
	}
	if err := st.Rerunnable("b"); err == nil || !strings.Contains(err.Error(), "the undo of step a, before b, failed") {
		t.Errorf("rerun of b, on what a left: %v", err)
	}
	if err := st.Rerunnable("a"); err != nil {
		t.Errorf("rerun of a: %v", err)
	}
	st = b.runSession(run, journal.Command{Do: "rerun", Step: "a", Downstream: true, Reason: "forward"}) // c fails again
	if st.Outcome != journal.RunFailed || b.there() != "ab" {
		t.Errorf("rerun: %q, there are %q", st.Outcome, b.there())
	}
	b.put("mended", "")
	if st = b.runSession(run, journal.Command{Do: "cancel", Undo: true}); st.Outcome != journal.RunUndone || b.there() != "" {
		t.Errorf("the next undo: %q because of %q, there are %q", st.Outcome, st.Why, b.there())
	}
}

// A rerun of a step before the one whose undo failed does not pass that over either, without those after it too.
func TestARerunBeforeTheStepWhoseUndoFailedDoesItAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(strings.Replace(stepsAgain, `undo: "rm DIR/b"`, `undo: "rm DIR/b; false"`, 1))})
	b.put("stop", "")
	b.runSession(run, journal.Command{Do: journal.DoRun})
	if st := b.runSession(run, journal.Command{Do: journal.DoCancel, Undo: true}); !st.Item("b").UndoFailed() || b.there() != "a" {
		t.Fatalf("%q, there are %q, want that the undo of b failed after it took b away", st.Outcome, b.there())
	}
	b.remove("stop")
	if st := b.runSession(run, journal.Command{Do: journal.DoRerun, Step: "a", Reason: "again"}); st.Outcome != journal.RunDone || b.there() != "abc" {
		t.Errorf("rerun of a: %q because of %q, there are %q", st.Outcome, st.Why, b.there())
	}
}

// What was agreed to before a step was undone is no leave to do it again.
func TestARerunOfWhatWasTakenBackIsAgreedToAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("stop", "")
	run := b.begin(Request{Book: b.parse(strings.Replace(stepsAgain, "id: a, uses", "id: a, approval: {note: sure?}, uses", 1))})
	agreed := ApproveAll(t.Context(), b.Service)
	b.runSession(run, journal.Command{Do: "run"})
	if st := b.runSession(run, journal.Command{Do: "cancel", Undo: true}); st.Outcome != journal.RunUndone {
		t.Fatalf("cancelled: %q", st.Outcome)
	}
	b.remove("stop")
	if st := b.runSession(run, journal.Command{Do: "rerun", Step: "a", Downstream: true, Reason: "mended"}); st.Outcome != journal.RunDone {
		t.Errorf("rerun: %q, %s", st.Outcome, st.Why)
	}
	agreed()
	if asked := len(b.events(run, journal.Asked)); asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// Steps that are to be done again, and did not come to it, can be taken back as they were done.
func TestUndoAfterARerunThatFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(stepsAgain)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatalf("run: %q, %s", st.Outcome, st.Why)
	}
	b.put("fail", "")
	b.remove("a")
	if st := b.runSession(run, journal.Command{Do: "rerun", Step: "a", Downstream: true, Reason: "again"}); st.Outcome != journal.RunFailed {
		t.Fatalf("rerun: %q, %s", st.Outcome, st.Why)
	}
	b.put("a", "")
	if st := b.runSession(run, journal.Command{Do: "cancel", Undo: true}); st.Outcome != journal.RunUndone || b.there() != "" {
		t.Errorf("cancelled: %q, %s; there are %q", st.Outcome, st.Why, b.there())
	}
}

// A breach that is to stop a run stops it though it is over when the act is, and on_failure says whether it is taken back.
func TestABreachThatStopsIsNotForgotten(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]struct {
		outcome journal.Outcome
		there   string
	}{"undo": {journal.RunUndone, ""}, "stop": {journal.RunFailed, "ab"}} {
		t.Run(after, func(t *testing.T) {
			b := newBench(t)
			d := &dial{load: 1}
			b.Meter = func(*cluster.Cluster) Meter { return d }
			run := b.begin(Request{Book: b.parse("\nrunbook: test/stop\non_failure: " + after + `
guardrails:
  - {name: load, when: "db.load > 5", then: stop}
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - {id: b, uses: command, with: {run: "while ! test -e DIR/calm; do sleep 0.1; done; touch DIR/b", check: "test -e DIR/b", undo: "rm DIR/b", repeatable: true}}
  - {id: c, uses: command, with: {run: "touch DIR/c", check: "test -e DIR/c", undo: "rm DIR/c", repeatable: true}}
`)})
			e, err := b.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.Close(t.Context()) }()
			if err := b.Start(t.Context(), e, run, journal.Command{Do: "run"}); err != nil {
				t.Fatal(err)
			}
			b.until(run, func(st *journal.State) bool {
				i := st.Item("b")
				return i != nil && i.Phase == journal.StepActing
			})
			d.set(9, nil)
			b.until(run, func(st *journal.State) bool { return st.Held != "" })
			d.set(1, nil)
			b.until(run, func(st *journal.State) bool { return time.Since(st.Changed) > 2*guardEvery }) // read again since
			b.put("calm", "")
			if err := e.Wait(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			st := b.stateOf(run)
			if st.Outcome != want.outcome || !strings.Contains(st.Why, "guardrail load: ") || b.there() != want.there {
				t.Errorf("%q, %s; there are %q, want %q", st.Outcome, st.Why, b.there(), want.there)
			}
		})
	}
}

// What a rate was is known from the second reading on.
func TestTheBaselineOfARateBeginsWithItsFirstValue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	g := newGuard(b.parse(guarded), nil)
	now := time.Unix(1000, 0)
	g.judge(now, map[string]float64{"db.other": 10}, nil)
	g.judge(now.Add(time.Second), map[string]float64{"db.other": 20, "db.load": 10}, nil)
	if base := g.settle(); base["db.load"] != 10 || base["db.other"] != 15 {
		t.Errorf("baseline %v", base)
	}
}

// That the cluster was healthy before a target is no news when the step is done again.
func TestTheHealthIsLookedAtAnewBeforeARerun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(`
runbook: test/rolling
steps:
  - id: each
    rolling: {over: "['n1', 'n2']", settle: 3s}
    steps:
      - {id: a, uses: command, with: {run: "touch DIR/${{ target }}", check: "test -e DIR/${{ target }}", repeatable: true}}
`)})
	b.runSession(run, journal.Command{Do: "run"})
	b.remove("n1")
	b.remove("n2")
	st := b.runSession(run, journal.Command{Do: "rerun", Step: "each[n1].a", Downstream: true, Reason: "again"})
	var looked []string
	for _, e := range b.events(run, journal.Ready) {
		looked = append(looked, e.Step)
	}
	if want := []string{"each[n1]", "each[n2]", "each[n1]", "each[n2]"}; st.Outcome != journal.RunDone || !slices.Equal(looked, want) {
		t.Errorf("%q, looked at %v, want %v", st.Outcome, looked, want)
	}
}
