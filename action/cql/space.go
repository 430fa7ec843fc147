package cql

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// emptyNode is what a node takes without any data: its commit log and the system's tables.
const emptyNode = 200 << 20

// holds refuses to send a node data for which its disk has no room: what it is going to hold, and a tenth for what comes in
// between. Where its disk cannot be seen from here nothing is refused.
func holds(ctx context.Context, n cluster.Node, data int64) error {
	free, known := freeOn(ctx, n)
	if wants := data + data/10; known && free < wants {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("node %s has %s free for %s, but would receive about %s", n.Name, megabytes(free), n.Data, megabytes(data)),
			Advice: "a node whose disk fills up while it receives data stops, and the ring serves as before with what it had; " +
				"give it a larger disk or free some of it (nodetool clearsnapshot, cql/cleanup); then plimsoll runbook resume RUN",
		}
	}
	return nil
}

// share is what a new node is going to hold, with the room that an empty one needs: the data of its data centre, spread over
// one more; or what the dead one had whose place it takes.
func (v view) share(center string, dead *engine.Member) int64 {
	if dead != nil && dead.Load > 0 {
		return dead.Load + emptyNode
	}
	var all, nodes int64
	for _, m := range v.Members {
		if center == "" || m.DataCentre == center {
			all, nodes = all+m.Load, nodes+1
		}
	}
	return all/(nodes+1) + emptyNode
}

// staying refuses to take a node out whose data the others of its data centre have no room for.
func (v view) staying(ctx context.Context, goes engine.Member) error {
	var others []cluster.Node
	for _, n := range v.ring.nodes {
		if m := v.member(n); m != nil && m.Host != goes.Host && m.DataCentre == goes.DataCentre {
			others = append(others, n)
		}
	}
	for _, n := range others {
		if err := holds(ctx, n, goes.Load/int64(len(others))); err != nil {
			return err
		}
	}
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
