package journal

import (
	"reflect"
	"testing"

	"plimsoll/action"
)

func TestHowALaterPlanDiffersIsTold(t *testing.T) {
	step := func(key string, effect action.Effect, state action.State, follows string) PlanStep {
		return PlanStep{
			Key: key, Effect: effect, State: state, Inputs: action.Facts{"node": "n2"},
			Observed: action.Facts{"follows": follows}, Intended: action.Facts{"follows": ""},
		}
	}
	read := Plan{Steps: []PlanStep{step("wait", action.None, action.Needed, "n1"), step("promote", action.Irreversible, action.Needed, "n1"), step("stop", action.Reversible, action.Needed, "")}}
	now := Plan{Steps: []PlanStep{step("wait", action.None, action.Satisfied, "n3"), step("promote", action.Irreversible, action.Satisfied, ""), step("start", action.Reversible, action.Needed, "")}}
	want := []string{"step promote: needed → satisfied, follows n1 → none", "step start is new", "step stop no longer exists"}
	if is := read.ChangedTo(now); !reflect.DeepEqual(is, want) {
		t.Errorf("%q", is)
	}
	if is := read.ChangedTo(read); len(is) > 0 {
		t.Errorf("of itself: %q", is)
	}
	other := Plan{Steps: []PlanStep{step("wait", action.None, action.Needed, "n1")}}
	other.Steps[0].Inputs = action.Facts{"node": "n3"}
	if is := (Plan{Steps: read.Steps[:1]}).ChangedTo(other); !reflect.DeepEqual(is, []string{"step wait: input node n2 → n3"}) {
		t.Errorf("a wait for another node: %q", is)
	}
}

// A runbook of looks alone is for what it looks at: that its array is whole already does not make a comparison nothing to do.
func TestAPlanOfALookIsNotNothingToDo(t *testing.T) {
	whole := PlanStep{Key: "whole", Uses: "superdisk.wait-whole", Effect: action.None, State: action.Satisfied}
	compare := PlanStep{Key: "compare", Uses: "superdisk.check", Effect: action.None, State: action.Needed}
	if (Plan{Steps: []PlanStep{whole, compare}}).NothingToDo() {
		t.Error("a comparison is nothing to do")
	}
}

// How long earlier runs took is said of a plan that could act, not of one whose steps are refused, skipped or done already.
func TestAPlanThatDoesNothingTakesNoTime(t *testing.T) {
	step := func(s PlanStep) Plan { return Plan{Steps: []PlanStep{{Key: "go", Approval: "Go?"}, s}} }
	for what, c := range map[string]struct {
		plan Plan
		acts bool
	}{
		"refused":     {step(PlanStep{Key: "a", Uses: "x", Failed: true, Reason: "it cannot be 5"}), false},
		"so already":  {step(PlanStep{Key: "a", Uses: "x", State: action.Satisfied}), false},
		"skipped":     {step(PlanStep{Key: "a", Uses: "x", State: action.Needed, Skip: true}), false},
		"needed":      {step(PlanStep{Key: "a", Uses: "x", State: action.Needed}), true},
		"known later": {step(PlanStep{Key: "a", Uses: "x", Later: []string{"go"}}), true},
	} {
		if got := c.plan.MayAct(); got != c.acts {
			t.Errorf("%s: may act %v", what, got)
		}
	}
}
