package fault

import (
	"context"

	"plimsoll/action"
	"plimsoll/cluster"
)

var restoreAction = action.Action{
	Name: "fault.restore", Version: 1,
	About: "Brings all nodes back to the data that was kept of them, as a restore from a snapshot does: what was written since is lost. Only in a trial, and in a lab of whose data a copy was kept.",
	New:   func() action.Task { return &restore{} },
}

type restore struct{}

var _ action.Verifier = (*restore)(nil)

func (*restore) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// Check always finds it needed: whether something was written since, nobody knows.
func (*restore) Check(_ context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, err := restorer(on)
	return action.CheckResult{State: action.Needed, Intended: action.Facts{"data": "as it was kept"}}, err
}

func (*restore) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	r, err := restorer(on)
	if err != nil {
		return nil, err
	}
	defer on.RolesChanged() // what was asked meanwhile is of before
	return nil, r.Restore(ctx)
}

// Verify has nothing to ask: the act waits until the nodes that ran serve again.
func (*restore) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func restorer(on *cluster.Cluster) (cluster.Restorer, error) {
	if err := allowed(on); err != nil {
		return nil, err
	}
	if on.Restorer == nil {
		return nil, cluster.OnlyInALab("a restore of the data", on.Name)
	}
	return on.Restorer, nil
}
