package action

import (
	"context"

	"plimsoll/cluster"
)

var addAction = Action{
	Name: "server.add", Version: 1,
	About: "Adds a node with a copy of another node's data to the cluster; on MySQL and MariaDB it becomes a replica. The server that is copied is stopped meanwhile. Only in a lab. Its output is node.",
	New:   func() Task { return &add{} },
}

type add struct{}

var _ Verifier = (*add)(nil)

// Traits says that it cannot be repeated: another act would add another node.
func (*add) Traits() Traits { return Traits{Effect: Irreversible} }

// Check always finds it needed: a node more is always one more.
func (*add) Check(_ context.Context, on *cluster.Cluster) (CheckResult, error) {
	_, err := grower(on)
	return CheckResult{State: Needed, Intended: Facts{"node": "a new one"}}, err
}

func (*add) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	g, err := grower(on)
	if err != nil {
		return nil, err
	}
	node, err := g.Add(ctx)
	if err != nil {
		return nil, err
	}
	return Facts{"node": node}, nil
}

// Verify has nothing to ask: the act waits until the node is a part of the cluster.
func (*add) Verify(context.Context, *cluster.Cluster, Facts) error { return nil }

func grower(on *cluster.Cluster) (cluster.Grower, error) {
	if on.Grower == nil {
		return nil, cluster.OnlyInALab("another node", on.Name)
	}
	return on.Grower, nil
}
