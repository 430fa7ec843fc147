package execute

import (
	"strings"
	"testing"

	"plimsoll/runbook/journal"
)

const asksFirst = `
runbook: test/asks-first
gate: {none: a test}
steps:
  - {id: sure, approval: {note: "Is it free?"}}
  - {id: mark, uses: command, with: {run: "touch DIR/marked", check: "test -e DIR/marked", undo: "rm -f DIR/marked", repeatable: true}}
`

func TestAPlanWithNothingToDoAsksNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("marked", "")
	book := b.parse(asksFirst)
	p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "prod1"})
	if err != nil {
		t.Fatal(err)
	}
	if plan := p.Header.Plan; !plan.NothingToDo() || len(plan.Steps[0].Awaits()) > 0 {
		t.Errorf("the plan: %+v", plan)
	}
	run := b.begin(Request{Book: book, Cluster: "prod1"})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Errorf("outcome %q at %s", st.Outcome, st.Position())
	}
	if asked := b.events(run, journal.Asked, journal.Intended); len(asked) > 0 {
		t.Errorf("it asked or acted: %+v", asked)
	}
}

func TestEvidenceOfAnActThatNobodyWasAskedForIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("marked", "")
	run := b.begin(Request{Book: b.parse(asksFirst), Cluster: "prod1"})
	b.runSession(run, journal.Command{Do: "run"})
	whole, err := b.Evidence(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*journal.Event)
		want   string
	}{
		{func(*journal.Event) {}, ""},
		{func(e *journal.Event) {
			if e.Kind == journal.Verified {
				e.Kind = journal.Intended
			}
		}, "step mark acted without the approval of step sure"},
	} {
		forged := forgedEvidence(t, whole, func(e *journal.Event) bool { c.change(e); return true })
		if _, err := journal.VerifyEvidence(textEvidence(t, forged)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// What the plan found may not be so any more when the run comes to it: it does not act without the approval that it left out.
func TestWhatIsNeededAfterAllIsNotDoneUnasked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("marked", "")
	run := b.begin(Request{Book: b.parse(asksFirst), Cluster: "prod1"})
	b.remove("marked")
	st := b.runSession(run, journal.Command{Do: "run"})
	mark := st.Item("mark")
	if st.Outcome != journal.RunFailed || mark.Begun != 0 || !strings.Contains(mark.Error, "the plan asked for no approval") {
		t.Fatalf("outcome %q, %+v", st.Outcome, mark)
	}
	if !strings.Contains(mark.Advice, "plimsoll runbook cancel "+run) {
		t.Errorf("advice %q", mark.Advice)
	}
	if st := b.runSession(run, journal.Command{Do: "cancel"}); st.Outcome != journal.RunCancelled {
		t.Errorf("the cancelled run: %q", st.Outcome)
	}
}

// An approval is what some runbooks are for, and one that has something to do asks for it.
func TestAPlanThatFoundAnythingElseAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, text := range map[string]string{
		"nothing but an approval": "runbook: test/asks\nsteps: [{id: sure, approval: {note: \"Go on?\"}}]",
		"something to do":         asksFirst,
	} {
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(text), Cluster: "lab1"})
		if err != nil {
			t.Fatal(err)
		}
		if plan := p.Header.Plan; plan.NothingToDo() || plan.Steps[0].Unasked || len(plan.Steps[0].Awaits()) != 1 {
			t.Errorf("%s: %+v", name, plan)
		}
	}
}
