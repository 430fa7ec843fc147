package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var decommissionAction = action.Action{
	Name: "cql.decommission", Version: 1,
	About: "Decommissions a node: it streams its ranges to the others and leaves the ring. Refused where a keyspace has as many replicas as there are nodes.",
	New:   func() action.Task { return &decommission{} },
}

type decommission struct {
	Node string `yaml:"node,required" doc:"Which node."`
}

var (
	_ action.Verifier       = (*decommission)(nil)
	_ action.InFlightWaiter = (*decommission)(nil)
)

// Traits says irreversible: the node's data is of no use afterwards. It is repeatable: a node that is leaving goes on by
// itself, and is waited for.
func (d *decommission) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (d *decommission) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "decommission a node", "kube/scale"); err != nil {
		return action.CheckResult{}, err
	}
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	v, err := r.view(ctx, n.Name)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"member": false}}
	is := v.member(n)
	if is == nil {
		f.State, f.Observed = action.Satisfied, action.Facts{"member": false}
		return f, nil
	}
	f.Observed = action.Facts{"member": true, "host_id": is.Host}
	if is.Part == engine.Leaving {
		f.Observed["leaving"] = true
		if !is.Up && died(ctx, n) {
			return f, action.FactsHold{Err: v.diedBefore(n, *is)}
		}
		return f, v.orderly(ctx, n)
	}
	if err := tooled(n); err != nil {
		return f, err
	}
	if !is.Up {
		return f, action.FactsHold{Err: &hint.PermanentError{Reason: fmt.Sprintf("the ring sees %s as %s: a node that is down cannot stream its ranges to the others", n.Name, named(*is)),
			Advice: fmt.Sprintf("start it: %s; or replace it: cql/replace-node -i dead=%s. If this run has begun, release its cluster first: plimsoll runbook cancel RUN --leave REASON", v.ring.starting(n.Name), n.Name)}}
	}
	if err := errors.Join(v.whole(ctx), v.agreed()); err != nil {
		return f, err
	}
	all, err := keyspaces(ctx, on, v.node)
	if err != nil {
		return f, err
	}
	if err := room(all, v.Members, *is); err != nil {
		return f, err
	}
	if err := v.staying(ctx, *is); err != nil {
		return f, err
	}
	return f, v.orderly(ctx, n)
}

func (d *decommission) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return nil, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return nil, err
	}
	return nil, leave(ctx, r, n, c)
}

// AwaitInFlight waits while a nodetool that outlived who began it may still have the node leave, and until the others see that it does.
func (d *decommission) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return err
	}
	return awaitOrder(ctx, n, c, []string{"LEAVING", "DECOMMISSIONED"}, leavingIsSeen(on, n))
}

func (d *decommission) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := d.Check(ctx, on)
	if err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("node %s is still a member", d.Node)
	}
	return err
}

// leave has a node leave the ring, unless it does so already, and waits until no other has it as a member. flags are of the order.
func leave(ctx context.Context, r *ring, n cluster.Node, c action.Call, flags ...string) error {
	v, err := r.await(ctx, n.Name, c)
	if err != nil {
		return err
	}
	was := v.member(n)
	if was == nil {
		return nil
	}
	if !was.Up && died(ctx, n) {
		return v.diedBefore(n, *was)
	}
	is, err := mode(ctx, n)
	if err != nil {
		return err
	}
	var ordered chan error // nil: it goes on by itself, whoever ordered it
	if !leaves(is) {
		ordered = order(ctx, n, c, flags)
	}
	heard := make(chan error)
	close(heard)
	seen, sent := watching(), flow{}
	for err == nil {
		select {
		case err = <-ordered:
			ordered = heard // it was heard; the others hear of the end in a moment
			if err != nil {
				return r.whatOthersSay(ctx, n, *was, err)
			}
		default:
		}
		if v, err = r.await(ctx, n.Name, c); err != nil {
			break
		}
		if _, still := v.Find(was.Host); !still {
			break
		}
		if ordered == nil {
			if gone := seen.gone(v, n); gone != "" {
				return fmt.Errorf("node %s was leaving, and %s: it still owns its ranges. Start it (%s), then plimsoll runbook resume RUN decommissions it again", n.Name, gone, r.starting(n.Name))
			}
			if is := seen.mode(ctx, v, n); is != "" && !leaves(is) { // DECOMMISSION_FAILED; NORMAL, if its server was restarted
				c.Progress(-1, "it is "+is+", and is decommissioned again")
				ordered = order(ctx, n, c, flags)
			}
		}
		sent.told(ctx, v, c, "leaving")
		err = poll.Rest(ctx, often)
	}
	if ordered == nil || err != nil && ctx.Err() == nil {
		return err
	}
	return errors.Join(err, <-ordered)
}

// whatOthersSay is what came of an order to leave that failed, by the nodes that stay: one that died in its middle, or at its end, can tell
// nobody. They are asked until they have noticed its death, if it does not answer. A node that answers has refused.
func (r *ring) whatOthersSay(ctx context.Context, n cluster.Node, was engine.Member, failed error) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		v, err := r.view(limited, n.Name)
		is, still := v.Find(was.Host)
		switch {
		case err != nil:
		case !still:
			return nil
		case !is.Up:
			return v.diedBefore(n, is)
		}
		if _, err := mode(limited, n); err == nil && !died(limited, n) {
			return failed
		}
		if poll.Rest(limited, often) != nil {
			return failed
		}
	}
}

// died tells whether a node's server does not run, by the word of its machine.
func died(ctx context.Context, n cluster.Node) bool {
	if n.Server == nil {
		return false
	}
	running, err := n.Server.Running(ctx)
	return err == nil && !running
}

// diedBefore says that a node has not left, by the node that was asked: its server died, or hangs, before it had.
func (v view) diedBefore(n cluster.Node, is engine.Member) error {
	return &hint.PermanentError{Reason: fmt.Sprintf("node %s does not answer and has not left: %s still sees it as a member, %s, which owns its ranges", n.Name, v.node, named(is)),
		Advice: fmt.Sprintf("start it: %s; then plimsoll runbook resume RUN decommissions it again; if it does not start any more, replace it: cql/replace-node -i dead=%s. "+
			"Before that, release its cluster: plimsoll runbook cancel RUN --leave REASON", v.ring.starting(n.Name), n.Name)}
}

// leaves tells by its mode whether a node leaves, or has left.
func leaves(mode string) bool { return mode == "LEAVING" || mode == "DECOMMISSIONED" }

// order has a node leave. What is returned tells once how that ended.
func order(ctx context.Context, n cluster.Node, c action.Call, flags []string) chan error {
	ordered := make(chan error, 1)
	go func() {
		_, err := give(ctx, n, c, append([]string{"decommission"}, flags...)...)
		ordered <- unleft(err)
	}()
	return ordered
}

// unleft says what holds when a node did not leave: it has its ranges until the end.
func unleft(err error) error {
	if err == nil {
		return nil
	}
	// nodetool exits with 1 for this refusal, for a wrong argument and for a connection that it cannot open: its text alone tells them apart.
	if strings.Contains(err.Error(), "Unsupported operation: ") {
		return &hint.PermanentError{Reason: err.Error(),
			Advice: "the node keeps its ranges, and serves them as before. If there are not enough nodes, add one first, or lower the keyspace's replication and run cql/repair; if data is moving, wait until it is done; then plimsoll runbook resume RUN"}
	}
	return fmt.Errorf("%w; until it has left, it serves its ranges as before. Its log names the cause: fix it, then plimsoll runbook resume RUN, which waits for a node that is still leaving and decommissions a failed one again", err)
}
