package cql

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/poll"
)

// markOf is how nodetool's process is found again: below the mark of a lab's nodes, which removes what they leave.
func markOf(c infra.Command, call action.Call) string { return c.Mark + action.Mark(call) }

// leftOrders are nodetool's processes that an act or its undo began and that outlived who began them.
func leftOrders(ctx context.Context, n cluster.Node, call action.Call) ([]infra.Process, error) {
	if n.Tool == nil || n.Machine == nil { // nobody gave it an order
		return nil, nil
	}
	c, err := n.Tool("help")
	if err != nil {
		return nil, err
	}
	left, err := n.Machine.Find(ctx, markOf(c, call))
	if err != nil {
		return nil, fmt.Errorf("look for the nodetool that was started: %w", err)
	}
	return left, nil
}

// awaitOrder waits while a nodetool that outlived who began it may still give its order, and then until begun says that the order can be seen, for half
// a minute at most: a check before that finds a node as it was, which changes a moment later. begun are the modes of a node that has begun with it.
func awaitOrder(ctx context.Context, n cluster.Node, call action.Call, begun []string, seen func(context.Context) bool) error {
	var heard time.Time // when the node was first found to have begun
	for {
		left, err := leftOrders(ctx, n, call)
		if err != nil {
			return err
		}
		is, err := modeIfTold(ctx, n)
		if err != nil {
			return err
		}
		switch {
		case slices.Contains(begun, is):
			if heard.IsZero() {
				heard = time.Now()
			}
			if seen(ctx) || time.Since(heard) > patience {
				return ctx.Err()
			}
		case len(left) == 0:
			return ctx.Err()
		case call.Progress != nil:
			call.Progress(-1, "a nodetool that was started before is still running on "+n.Machine.Name()+": waiting until its order has begun, or it ends")
		}
		if err := poll.Rest(ctx, often); err != nil {
			return err
		}
	}
}

// modeIfTold is the mode of a node; empty if it tells none, as one that does not run.
func modeIfTold(ctx context.Context, n cluster.Node) (string, error) {
	if tooled(n) != nil || died(ctx, n) {
		return "", ctx.Err()
	}
	is, err := mode(ctx, n)
	if err != nil {
		return "", ctx.Err()
	}
	return is, nil
}

// leavingIsSeen tells whether the other nodes see that a node leaves, or see it no more.
func leavingIsSeen(on *cluster.Cluster, n cluster.Node) func(context.Context) bool {
	return func(ctx context.Context) bool {
		r, err := ringOf(ctx, on)
		if err != nil {
			return false
		}
		v, err := r.view(ctx, n.Name)
		if err != nil {
			return false
		}
		is := v.member(n)
		return is == nil || is.Part != engine.Normal
	}
}
