package execute

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// overtaken is an act whose undo finds what somebody set since, and leaves it.
type overtaken struct {
	Name string `yaml:"name" doc:"What is set."`

	satisfied *atomic.Bool // nil: it is not
}

func (*overtaken) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (o *overtaken) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	if o.satisfied != nil && o.satisfied.Load() {
		return action.CheckResult{State: action.Satisfied}, nil
	}
	return action.CheckResult{State: action.Needed}, nil
}

func (*overtaken) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, nil
}

func (*overtaken) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func (*overtaken) Undo(context.Context, *cluster.Cluster, action.Call) error {
	return action.ChangedSince("max_connections of node n1", "90", "83", "151")
}

// An undo that leaves what somebody set since goes on with the steps before it. What it left is told until it is fixed: by the same step done
// again, or by a person's word.
func TestAnUndoGoesOnBesideWhatItLeaves(t *testing.T) {
	t.Parallel()
	for how, text := range map[string]string{
		"a person cancels": `
runbook: test/overtaken
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - {id: b, uses: test.overtaken}
  - {id: c, uses: command, with: {run: "test -e DIR/mended", effect: none}}
`, "a failure is undone": `
runbook: test/overtaken
on_failure: undo
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "rm DIR/a", repeatable: true}}
  - {id: b, uses: test.overtaken}
  - {id: c, uses: command, with: {run: "test -e DIR/mended", effect: none}}
`} {
		for _, fixed := range []string{"again", "by a person"} {
			t.Run(how+", fixed "+fixed, func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.Actions = append(b.Actions, action.Action{Name: "test.overtaken", Version: 1, About: "Is overtaken.", New: func() action.Task { return &overtaken{} }})
				book := func() *runbook.Runbook { return b.parse(text) }
				run := b.begin(Request{Book: book()})
				st := b.runSession(run, journal.Command{Do: "run"})
				if how == "a person cancels" {
					st = b.runSession(run, journal.Command{Do: "cancel", Undo: true})
				}
				if st.Outcome != journal.RunUndone || st.Status() != journal.UndoneWithRemainders || b.read("a") != "" || len(b.events(run, journal.Undone)) != 3 {
					t.Fatalf("%q, %q, undone %+v", st.Outcome, st.Status(), b.events(run, journal.Undone))
				}
				if left := st.Remainders(); len(left) != 1 || left[0].Step != "b" || !strings.Contains(left[0].String(), "was undone, except max_connections of node n1 (step b): it is 90 now") {
					t.Errorf("left %v", left)
				}
				left, err := b.OpenRemainders(t.Context(), "lab1")
				if err != nil || len(left) != 1 || left[0].Run != run || !left[0].Undo {
					t.Fatalf("told %v, %v", left, err)
				}
				if fixed == "by a person" {
					if mended, err := b.Mend(t.Context(), run, "it is meant so"); len(mended) != 1 || err != nil {
						t.Error(mended, err)
					}
				} else {
					b.put("mended", "")
					if st := b.runSession(b.begin(Request{Book: book()}), journal.Command{Do: "run"}); st.Outcome != journal.RunDone || st.Status() != string(journal.RunDone) {
						t.Fatal(st.Status())
					}
				}
				if left, err := b.OpenRemainders(t.Context(), "lab1"); err != nil || len(left) != 0 {
					t.Errorf("fixed, and told %v, %v", left, err)
				}
			})
		}
	}
}

// What an undo left is fixed by the same step that acts again with the same inputs, and by nothing else of that name.
func TestWhatAnUndoLeftIsFixedByTheSameInputsAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var satisfied atomic.Bool
	b.Actions = append(b.Actions, action.Action{Name: "test.overtaken", Version: 1, About: "Is overtaken.", New: func() action.Task { return &overtaken{satisfied: &satisfied} }})
	begin := func(name string) string {
		return b.begin(Request{Book: b.parse("runbook: test/overtaken\nsteps:\n  - {id: a, uses: test.overtaken, with: {name: " + name + "}}\n  - {id: c, uses: command, with: {run: \"test -e DIR/mended\", effect: none}}\n")})
	}
	run := begin("x")
	b.runSession(run, journal.Command{Do: "run"})
	if st := b.runSession(run, journal.Command{Do: "cancel", Undo: true}); st.Status() != journal.UndoneWithRemainders {
		t.Fatal(st.Status())
	}
	b.put("mended", "")
	for _, again := range []struct {
		name  string
		is    bool
		fixed bool
	}{{"y", false, false}, {"x", true, false}, {"x", false, true}} {
		satisfied.Store(again.is)
		if st := b.runSession(begin(again.name), journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
			t.Fatal(st.Outcome)
		}
		if left, err := b.OpenRemainders(t.Context(), "lab1"); err != nil || (len(left) == 0) != again.fixed {
			t.Errorf("after %+v: %v, %v", again, left, err)
		}
	}
}

// An undo that left something, and was stuck at a step before that one: what it left is told too when the cluster is given back as it is.
func TestWhatAStuckUndoLeftIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Actions = append(b.Actions, action.Action{Name: "test.overtaken", Version: 1, About: "Is overtaken.", New: func() action.Task { return &overtaken{} }})
	run := b.begin(Request{Book: b.parse(`
runbook: test/stuck
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a", undo: "exit 1", repeatable: true}}
  - {id: c, uses: test.overtaken}
  - {id: d, uses: command, with: {run: "exit 1", effect: none}}
`)})
	b.runSession(run, journal.Command{Do: "run"})
	b.runSession(run, journal.Command{Do: "cancel", Undo: true})
	if st := b.runSession(run, journal.Command{Do: "cancel", Leave: "it is late"}); st.Outcome != journal.RunCancelled {
		t.Fatal(st.Outcome)
	}
	left, err := b.OpenRemainders(t.Context(), "lab1")
	if err != nil || len(left) != 2 || !left[0].Undo || left[0].Step != "c" || left[1].Target != "" {
		t.Errorf("%v, %v", left, err)
	}
	if mended, err := b.Mend(t.Context(), run, "it is meant so"); len(mended) != 2 || err != nil {
		t.Error(mended, err)
	}
	if left, err := b.OpenRemainders(t.Context(), "lab1"); err != nil || len(left) != 0 {
		t.Errorf("fixed, and told %v, %v", left, err)
	}
}
