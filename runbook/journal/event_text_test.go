package journal

import (
	"errors"
	"testing"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/runbook"
)

// What two nodes say alike is said once.
func TestOneLineSaysEachThingOnce(t *testing.T) {
	denied := errors.New("SELECT command denied (1142)")
	if got := OneLine(errors.Join(denied, errors.New("n3 is gone"), denied)); got != "SELECT command denied (1142); n3 is gone" {
		t.Errorf("one line is %q", got)
	}
}

// A person who follows a run reads what happens to a step, not the words of its journal, which JSON keeps.
func TestARunIsToldInPlainWords(t *testing.T) {
	found := func(s action.State, reason string) *action.CheckResult {
		return &action.CheckResult{State: s, Reason: reason}
	}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Kind: Checked, Finding: found(action.Needed, "")}, "checked: to be executed"},
		{Event{Kind: Checked, Finding: found(action.Satisfied, "it is 500")}, "checked: nothing to do (it is 500)"},
		{Event{Kind: Checked, Finding: found(action.Unknown, "")}, "checked: a person must look at it"},
		{Event{Kind: Intended, Attempt: 1}, "started"},
		{Event{Kind: Intended, Attempt: 2}, "started, attempt 2"},
		{Event{Kind: Held, Reason: "load: p99 > 5"}, "paused by guardrail load: p99 > 5"},
	} {
		if got := c.event.Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for word, want := range map[string]string{
		"asking": "waiting for approval", "held": "paused by a guardrail", "parked": "interrupted", "done": "done",
		"approval": "waiting for approval", "due": "ready", "acting": "executing", "retry": "will try again", "undoing": "being undone",
	} {
		if got := InWords(word); got != want {
			t.Errorf("%s is read as %q, want %q", word, got, want)
		}
	}
}

// Nothing of a run that is over waits or will be tried again.
func TestStepsOfARunThatIsOverDoNotWait(t *testing.T) {
	for phase, want := range map[Phase]Phase{StepWaiting: StepNotExecuted, StepAsking: StepNotExecuted, StepRetrying: StepFailed, StepDone: StepDone,
		StepDue: StepNotExecuted, StepChecking: StepNotExecuted, StepActing: StepInDoubt, StepVerifying: StepInDoubt, StepUndoing: StepInDoubt} {
		if got := ShownPhase(&State{Outcome: RunCancelled}, &Step{Phase: phase}); got != want {
			t.Errorf("a step that was %s is shown as %s", phase, got)
		}
		if got := ShownPhase(&State{}, &Step{Phase: phase}); phase != StepAsking && got != phase {
			t.Errorf("of a run that goes on, a step that is %s is shown as %s", phase, got)
		}
	}
}

// A step that was begun is not waiting once the run is over; of a run that a guardrail stopped none is due.
func TestAStepThatWasBegunIsNotSaidToWait(t *testing.T) {
	for _, c := range []struct {
		outcome Outcome
		step    Step
		want    Phase
	}{
		{RunCancelled, Step{Phase: StepDue, Acts: true}, StepInDoubt},
		{RunCancelled, Step{Phase: StepWaiting, Acts: true}, StepInDoubt},
		{RunCancelled, Step{Phase: StepWaiting, Nothing: true}, StepUntouched},
		{RunFailed, Step{Phase: StepDue}, StepWaiting},
	} {
		if got := ShownPhase(&State{Outcome: c.outcome}, &c.step); got != c.want {
			t.Errorf("%+v of a run that is %s is shown as %q, want %q", c.step, c.outcome, got, c.want)
		}
	}
	if got := ShownPhase(&State{Parked: true}, &Step{Phase: StepActing, Acts: true}); got != StepInterrupted {
		t.Errorf("a step of a parked run, whose process was killed while it acted, is shown as %q", got)
	}
}

// Where a check found nothing changed by a step that was begun, nothing is undone, and nothing that was said of it stands.
func TestWhatNeverActedIsNotUndone(t *testing.T) {
	i := &Step{Phase: StepFailed, Step: &runbook.Step{}, Acts: true, Begun: 3, Attempt: 1, Asks: true, Error: "it was interrupted while it acted", Advice: "check the cluster"}
	if err := i.apply(Event{Kind: Said, Nothing: true}, durable.Entry{}); err != nil {
		t.Fatal(err)
	}
	st := &State{Items: []*Step{i}, Stopping: &Event{}}
	if i.Error != "" || i.Advice != "" || i.Asks || i.Acts || !HasChangedNothing(st) {
		t.Errorf("the step is %+v; nothing was changed: %v", i, HasChangedNothing(st))
	}
	st.Outcome = RunCancelled
	if got := ShownPhase(st, i); got != StepUntouched {
		t.Errorf("it is shown as %q", got)
	}
}

// A run that a guardrail stopped names the guardrail, and what it read then.
func TestAGuardrailThatStoppedARunIsNamed(t *testing.T) {
	st := &State{Book: &runbook.Runbook{Guardrails: []runbook.Guardrail{{Name: "busy", When: "mysql.threads_running > 5"}}}}
	ended := Event{Kind: Ended, Outcome: RunFailed, Reason: "guardrail busy: mysql.threads_running > 5", Guardrail: "busy", Metrics: map[string]float64{"mysql.threads_running": 12, "mysql.qps": 7}}
	if err := st.ApplyEvent(ended, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := GuardrailStop(st), "stopped by guardrail busy: mysql.threads_running > 5 (mysql.threads_running was 12)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	ended.Guardrail = ""
	if err := st.ApplyEvent(ended, nil); err != nil || GuardrailStop(st) != "" {
		t.Errorf("of a run that no guardrail stopped: %q, %v", GuardrailStop(st), err)
	}
}
