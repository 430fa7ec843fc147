package execute

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// ChangedPlanError is a plan that is another by now than the one that a person read.
type ChangedPlanError struct {
	Read, Is string   // their hashes
	What     []string // the differences, where they are known
	Plan     string   // the command that plans it again; "": not known
}

func (e *ChangedPlanError) Error() string {
	text := fmt.Sprintf("the plan is %s now, not %s", e.Is, e.Read)
	if len(e.What) > 0 {
		text += ": " + strings.Join(e.What, "; ")
	}
	return text
}

// Hint says what to do.
func (e *ChangedPlanError) Hint() string {
	if e.Plan == "" {
		return "something has changed since the plan was made: plan again with the same inputs, read the new plan, then run it"
	}
	return "something has changed since the plan was made: read the new plan, then run it: " + e.Plan
}

// samePlan makes the plan of a header once more: *ChangedPlanError if it would do something else by now, or starts from something else.
func samePlan(ctx context.Context, b *runbook.Runbook, on *cluster.Cluster, h journal.Header) error {
	now, err := plan.Make(ctx, b, on, &journal.State{Header: h, Book: b, Targets: map[string][]string{}})
	if err != nil {
		return fmt.Errorf("plan again before the run begins: %w", err)
	}
	if what := h.Plan.ChangedTo(now); len(what) > 0 {
		return &ChangedPlanError{Read: h.Plan.Hash, Is: now.Hash, What: what}
	}
	return nil
}
