package cql

import (
	"context"

	"plimsoll/action"
	"plimsoll/cluster"
)

// repair is the upkeep that compares a node's data with that of others.
type repair struct {
	Node     string `yaml:"node,required" doc:"Which node."`
	Keyspace string `yaml:"keyspace" doc:"The keyspace. Default: all."`
	All      bool   `yaml:"all_ranges" doc:"All ranges of which the node has a replica, as is needed after it was away for longer than hints are kept. Default: its primary ranges alone."`
}

var _ action.Verifier = (*repair)(nil)

func (r *repair) upkeep() *upkeep {
	u := &upkeep{Node: r.Node, Keyspace: r.Keyspace, order: []string{"repair", "--full", "--partitioner-range"}, kind: validation}
	if r.All {
		u.order = u.order[:2]
	}
	return u
}

func (r *repair) Traits() action.Traits { return r.upkeep().Traits() }

func (r *repair) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return r.upkeep().Check(ctx, on)
}

func (r *repair) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return r.upkeep().Act(ctx, on, c)
}

func (r *repair) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	return r.upkeep().Verify(ctx, on, output)
}
