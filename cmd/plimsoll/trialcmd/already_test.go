package trialcmd

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook/journal"
)

// A step that a trial is about must act: that it has nothing to do is said before the trial, and not that no obstacle was found.
func TestWhatIsAlreadyDoneIsSaidBeforeATrial(t *testing.T) {
	step := func(key, uses string, state action.State, effect action.Effect) journal.PlanStep {
		return journal.PlanStep{Key: key, Uses: uses, State: state, Effect: effect}
	}
	index := step("index", "sql.execute", action.Satisfied, action.Irreversible)
	look := step("look", "sql.execute", action.Satisfied, action.None)
	echo := step("echo", action.CommandName, action.Needed, action.Irreversible)
	set := step("set", "mysql.set-variable", action.Needed, action.Reversible)
	set0 := step("set", "mysql.set-variable", action.Satisfied, action.Reversible)
	const nothing = "would say nothing about the change"
	for _, c := range []struct {
		what  string
		steps []journal.PlanStep
		want  []string
	}{
		{"all is done", []journal.PlanStep{index, look}, []string{"own/change: index: already done on cluster shop", nothing}},
		{"a command beside it", []journal.PlanStep{index, echo}, []string{"index: already done", nothing}},
		{"several", []journal.PlanStep{index, set0, echo}, []string{"index, set: already done on cluster shop, so a trial there would not execute them", "on which they are still to be done"}},
		{"a part", []journal.PlanStep{index, set}, []string{"index: already done"}},
		{"nothing is done", []journal.PlanStep{look, echo, set}, nil},
	} {
		var got string
		for _, f := range alreadyDone(journal.Header{Runbook: "own/change", Cluster: "shop", Plan: journal.Plan{Steps: c.steps}}) {
			got += f.String() + "; " + f.Do
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", c.what, got, want)
			}
		}
		if (got == "") != (c.want == nil) || c.what == "a part" && strings.Contains(got, nothing) {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}
