package execute

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// ChangedPlanError is a plan that is another by now than the one that a person read.
type ChangedPlanError struct{ Read, Is string }

func (e *ChangedPlanError) Error() string {
	return fmt.Sprintf("the plan is %s now, not %s", e.Is, e.Read)
}

// Hint says what to do.
func (e *ChangedPlanError) Hint() string {
	return "something has changed since the plan was made: plan again and read the new plan"
}

// samePlan makes the plan of a header once more: *ChangedPlanError if it is another by now.
func samePlan(ctx context.Context, b *runbook.Runbook, site *cluster.Cluster, h journal.Header) error {
	now, err := plan.Make(ctx, b, site, &journal.State{Header: h, Book: b, Targets: map[string][]string{}})
	if err != nil {
		return fmt.Errorf("plan again before the run begins: %w", err)
	}
	if now.Hash != h.Plan.Hash {
		return &ChangedPlanError{Read: h.Plan.Hash, Is: now.Hash}
	}
	return nil
}
