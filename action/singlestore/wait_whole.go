package singlestore

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
)

var wholeAction = action.Action{
	Name: "singlestore.wait-whole", Version: 1,
	About: "Waits until every leaf is online, every partition has as many copies online as the redundancy level demands, and no partition is moving." + untried,
	New:   func() action.Task { return &whole{} },
}

type whole struct{}

func (w *whole) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *whole) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	return w.on(on).Check(ctx, action.Facts{"cluster": "whole"})
}

func (w *whole) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, w.on(on).Await(ctx, c, often)
}

// Verify has nothing to add: it was whole, and a person may have something moved again a moment later.
func (w *whole) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func (w *whole) on(on *cluster.Cluster) action.Missing {
	return func(ctx context.Context) (string, error) { return w.missing(ctx, on) }
}

// missing says what is not yet as it should be; empty if all is.
func (w *whole) missing(ctx context.Context, on *cluster.Cluster) (string, error) {
	c, err := clusterOf(ctx, on)
	if err != nil {
		return "", err
	}
	if absent := c.absent(""); len(absent) > 0 {
		return strings.Join(absent, ", "), nil
	}
	if few := c.short(c.Copies); len(few) > 0 {
		return fmt.Sprintf("fewer than %d copies online of %s", c.Copies, some(few)), nil
	}
	return underWay(ctx, on, orders)
}
