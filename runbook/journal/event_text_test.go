package journal

import (
	"errors"
	"testing"
)

// What two nodes say alike is said once.
func TestOneLineSaysEachThingOnce(t *testing.T) {
	denied := errors.New("SELECT command denied (1142)")
	if got := OneLine(errors.Join(denied, errors.New("n3 is gone"), denied)); got != "SELECT command denied (1142); n3 is gone" {
		t.Errorf("one line is %q", got)
	}
}

// Nothing of a run that is over waits or will be tried again.
func TestStepsOfARunThatIsOverDoNotWait(t *testing.T) {
	for phase, want := range map[Phase]Phase{StepWaiting: StepNotExecuted, StepAsking: StepNotExecuted, StepRetrying: StepFailed, StepDone: StepDone} {
		if got := ShownPhase(&State{Outcome: RunCancelled}, &Step{Phase: phase}); got != want {
			t.Errorf("a step that was %s is shown as %s", phase, got)
		}
		if got := ShownPhase(&State{}, &Step{Phase: phase}); phase != StepAsking && got != phase {
			t.Errorf("of a run that goes on, a step that is %s is shown as %s", phase, got)
		}
	}
}
