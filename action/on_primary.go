package action

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/hint"
)

// nodeFact is the node that was the primary when a task was checked, or acted on, whose node is left out.
const nodeFact = "node"

// CheckedOn is the node that a check looks at: the one that the task names, else the primary.
func CheckedOn(ctx context.Context, on *cluster.Cluster, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	n, err := on.Primary(ctx)
	return n.Name, err
}

// NotePrimary adds to what a check saw the node that it looked at, for a task that names none: another may be the primary when the task is
// acted on, or undone. With a name nothing is added.
func (f *CheckResult) NotePrimary(named, checked string) {
	if named != "" {
		return
	}
	for _, facts := range []*Facts{&f.Observed, &f.Intended} {
		if *facts == nil {
			*facts = Facts{}
		}
		(*facts)[nodeFact] = checked
	}
}

// ActsOn is the node that an act works on: the one that the task names, else the primary, which must be the one that was checked.
func (c Call) ActsOn(ctx context.Context, on *cluster.Cluster, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	node, before, err := c.primaryNow(ctx, on)
	if err == nil && before != "" {
		err = &hint.PermanentError{Reason: fmt.Sprintf("%s was the primary when this was checked, and %s is now", before, node),
			Advice: "plan the run again, so that it is checked on " + node + ", or name the node in the step"}
	}
	return node, err
}

// primaryNow is the primary, and who was it when the task was checked or acted on, if that was another that is known.
func (c Call) primaryNow(ctx context.Context, on *cluster.Cluster) (now, before string, err error) {
	on.RolesChanged() // who was the primary a moment ago may be it no more
	n, err := on.Primary(ctx)
	if err != nil {
		return "", "", err
	}
	if was := c.notedNode(); was != n.Name {
		return n.Name, was, nil
	}
	return n.Name, "", nil
}

// notedNode is the node that was noted by the check, or by the act; empty if none was.
func (c Call) notedNode() string {
	for _, facts := range []Facts{c.Before, c.Output} {
		if node, is := facts[nodeFact].(string); is {
			return node
		}
	}
	return ""
}

// ActedOn is the node that an act has worked on, for its undo: the one that the task names, else who was the primary when it was checked,
// whoever is the primary now.
func (c Call) ActedOn(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if was := c.notedNode(); was != "" {
		return was, nil
	}
	return "", hint.With(errors.New("the step names no node, and which node was the primary when it acted was not recorded"),
		"undo it by hand on the server that it changed, then plimsoll runbook cancel RUN --leave REASON")
}
