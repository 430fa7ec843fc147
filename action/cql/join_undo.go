package cql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// Undo takes the node out again: a member gives its ranges back, one that never became a member is stopped. It does not run
// afterwards, and can join again if Plimsoll made it: then it is as empty as it was. What took the place of a dead node stays:
// the dead one's ranges have no other owner. A ring that was too small for a keyspace's replicas before may be so again.
func (j *join) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	n, err := on.Node(ctx, j.Node)
	if errors.Is(err, cluster.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	v, err := r.view(ctx, n.Name)
	if err != nil {
		return err
	}
	if err := j.out(ctx, on, r, v, n, c); err != nil || n.Server == nil {
		return err
	}
	return asBefore(ctx, on, n)
}

// out takes the node out of the ring, whatever part it has in it.
func (j *join) out(ctx context.Context, on *cluster.Cluster, r *ring, v view, n cluster.Node, c action.Call) error {
	if is := v.member(n); is != nil && is.Part != engine.Joining && is.Part != engine.Replacing {
		return j.takeOut(ctx, on, r, n, c)
	}
	if n.Server == nil {
		return stopped(v, n)
	}
	if err := n.Server.Stop(ctx); err != nil {
		return err
	}
	return j.forgotten(ctx, on, r, n, c)
}

// asBefore stops a server that is out of the ring: one that has left it runs on, for nothing, and would never join again. It takes
// the settings of a join from it, and the data of a lab's, which is nobody's.
func asBefore(ctx context.Context, on *cluster.Cluster, n cluster.Node) error {
	if err := n.Server.Stop(ctx); err != nil {
		return err
	}
	if s, ok := cluster.As[cluster.Assignable](n.Server); ok {
		if err := unequip(ctx, s); err != nil {
			return fmt.Errorf("remove the join options of node %s: %w", n.Name, err)
		}
	}
	if on.Grower == nil {
		return nil
	}
	return on.Grower.Reset(ctx, n.Name)
}

// stopped tells whether a person has stopped a server that joined.
func stopped(v view, n cluster.Node) error {
	is := v.member(n)
	if is == nil {
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know how to stop the server of node %s, and the ring sees it as %s", n.Name, is.Code()),
		Advice: "the ring's data is safe. Stop the node by hand; the ring forgets it within two minutes. Then plimsoll runbook resume RUN"}
}

// takeOut has a member give its ranges back.
func (j *join) takeOut(ctx context.Context, on *cluster.Cluster, r *ring, n cluster.Node, c action.Call) error {
	if j.Replaces != "" {
		return &hint.PermanentError{Reason: fmt.Sprintf("node %s owns the ranges of %s now, and no other node does", n.Name, j.Replaces),
			Advice: "keep it: plimsoll runbook cancel RUN --leave REASON. Then cql/remove-node -i node=" + n.Name + " can move its ranges to the others"}
	}
	if n.Server != nil {
		running, err := n.Server.Running(ctx)
		if err == nil && !running {
			err = n.Server.Start(ctx)
		}
		if err != nil {
			return err
		}
	}
	v, err := r.view(ctx, n.Name)
	if err == nil {
		err = v.orderly(ctx, n)
	}
	if err != nil {
		return err
	}
	var flags []string
	if before := c.Before.Texts(shortKey); len(before) > 0 {
		if is := v.member(n); is != nil && v.asShort(ctx, on, *is, before) {
			flags = append(flags, "--force") // all that it does: the servers do not count the replicas
		}
	}
	return leave(ctx, r, n, c, flags...)
}

// forgetting is how long a ring may take to forget a node that was stopped while it joined. Of a delay of thirty seconds,
// Cassandra's own (cassandra.ring_delay_ms), it takes one or two.
const forgetting = 3 * time.Minute

// forgotten waits until the others no longer know a node that was stopped. One that became a member just before it stopped
// is taken out as such.
func (j *join) forgotten(ctx context.Context, on *cluster.Cluster, r *ring, n cluster.Node, c action.Call) error {
	limited, cancel := context.WithTimeout(ctx, forgetting)
	defer cancel()
	for {
		v, err := r.view(limited, n.Name)
		if err != nil {
			return err
		}
		is := v.member(n)
		if is == nil {
			return nil
		}
		if is.Part != engine.Joining && is.Part != engine.Replacing {
			return j.takeOut(ctx, on, r, n, c)
		}
		c.Progress(-1, "the ring still sees it as "+is.Code())
		if err := poll.Rest(limited, often); err != nil {
			return fmt.Errorf("%w: node %s is stopped, and the ring still sees it as %s", err, n.Name, is.Code())
		}
	}
}
