package execute

import (
	"fmt"
	"slices"

	"plimsoll/action"
	"plimsoll/runbook/journal"
)

// caution is why people must agree to a step before it acts, though its runbook does not say so: what the action itself says, or
// that nobody could read of its target in the plan.
func caution(task action.Task, f action.CheckResult, unplanned string) string {
	if f.State != action.Needed {
		return ""
	}
	if c, ok := task.(action.ApprovalDemander); ok {
		if said := c.ApprovalReason(f); said != "" {
			return said
		}
	}
	if task.Traits().Effect == action.None {
		return ""
	}
	return unplanned
}

// whyUnplanned says that a step is of a target that came after the plan was made; empty if it did not, or if people agreed to an earlier
// step of that target.
func whyUnplanned(r *runner, i *journal.Step) string {
	agreed := func(to *journal.Step) bool {
		return to.Group == i.Group && to.Target == i.Target && len(to.Approved) > 0
	}
	if i.Target == "" || !r.state.Header.Plan.Misses(i) || slices.ContainsFunc(r.state.Items, agreed) {
		return ""
	}
	return fmt.Sprintf("%s is not in the plan: it was added since", i.Target)
}
