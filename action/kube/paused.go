package kube

import (
	"context"

	"plimsoll/cluster"
)

// Paused tells whether a person has had the operator of a cluster leave it alone.
func Paused(ctx context.Context, on *cluster.Cluster) (bool, error) {
	r, err := find(ctx, on)
	if err != nil {
		return false, err
	}
	return r.operator.suspend != nil && r.Is(r.operator.suspend), nil
}
