package cql

import (
	"cmp"
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var drainAction = action.Action{
	Name: "cql.drain", Version: 1,
	About: "Drains a node before it is stopped: it flushes all data to disk and accepts no more requests. Refused while another node is down, and where a keyspace would be without a quorum of its replicas.",
	New:   func() action.Task { return &drain{} },
}

type drain struct {
	Node              string `yaml:"node,required" doc:"Which node."`
	AcceptUnavailable string `yaml:"accept_unavailable" doc:"Keyspaces, separated by commas, that may be without a quorum of their replicas while the node is away. Default: none."`
}

var (
	_ action.Undoer         = (*drain)(nil)
	_ action.Passer         = (*drain)(nil)
	_ action.InFlightWaiter = (*drain)(nil)
)

func (d *drain) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (d *drain) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"mode": "DRAINED"}}
	r, err := ringOf(ctx, on)
	if err != nil {
		return f, err
	}
	if n.Server != nil {
		running, err := n.Server.Running(ctx)
		if err != nil {
			return f, err
		}
		if !running {
			if v, err := r.around(ctx, n); err == nil && v.member(n) == nil { // who cannot be asked may have it
				return f, stranger(n)
			}
			f.State, f.Observed, f.Reason = action.Satisfied, action.Facts{"mode": "stopped"}, "the server is not running"
			return f, nil
		}
	}
	says, err := mode(ctx, n)
	if err != nil {
		return f, err
	}
	f.Observed = action.Facts{"mode": says}
	drained := says == "DRAINED"
	if drained && (!n.Loose || r.alone(n)) { // it takes no questions, and nodetool means no other
		f.State = action.Satisfied
		return f, nil
	}
	v, err := r.around(ctx, n)
	if err != nil {
		return f, err
	}
	if err := v.orderly(ctx, n); err != nil {
		return f, err
	}
	if drained {
		f.State = action.Satisfied
		return f, nil
	}
	is := v.member(n)
	if is == nil {
		return f, stranger(n)
	}
	if err := v.whole(ctx, is); err != nil {
		return f, err
	}
	all, err := keyspaces(ctx, on, v.node)
	if err != nil {
		return f, err
	}
	return f, away(all, v.Members, *is, d.AcceptUnavailable)
}

// AwaitInFlight waits while a nodetool that outlived who began it may still drain the node.
func (d *drain) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return err
	}
	return awaitOrder(ctx, n, c, []string{"DRAINING", "DRAINED"}, func(context.Context) bool { return true })
}

func (d *drain) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return nil, err
	}
	_, err = give(ctx, n, c, "drain")
	return nil, err
}

// Passed finds that the node was restarted since, and that the others have it as up.
func (d *drain) Passed(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return err
	}
	if is, err := mode(ctx, n); err != nil || is != "NORMAL" {
		return cmp.Or(err, fmt.Errorf("node %s is in mode %s, not NORMAL", n.Name, is))
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	v, err := r.around(ctx, n)
	if err != nil {
		return err
	}
	if is := v.member(n); is == nil {
		return stranger(n)
	} else if !is.Up || is.Part != engine.Normal {
		return fmt.Errorf("the ring sees node %s as %s", n.Name, named(*is))
	}
	return nil
}

// Undo restarts the node: a drained one can do nothing else. Then it waits until the others have it as up: what is taken back next may
// take another away.
func (d *drain) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	n, err := on.Node(ctx, d.Node)
	if err != nil {
		return err
	}
	if n.Server == nil {
		return restartedByHand(ctx, on, n)
	}
	if _, err := mayStart(ctx, on, n, "", ""); err != nil {
		return err
	}
	if err := restarted(ctx, n); err != nil {
		return err
	}
	return back(ctx, on, n)
}

// restartedByHand refuses to undo the drain of a node that only a person can start, until it serves again.
func restartedByHand(ctx context.Context, on *cluster.Cluster, n cluster.Node) error {
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	drained := false
	if !n.Loose || r.alone(n) { // else nodetool may mean another, and the others tell
		is, err := mode(ctx, n)
		drained = err != nil || is == "DRAINED" || is == "DRAINING"
	}
	v, err := r.around(ctx, n)
	if ctx.Err() != nil {
		return cmp.Or(err, context.Cause(ctx))
	}
	if is := v.member(n); !drained && err == nil && is != nil && is.Up {
		return nil
	}
	return &hint.PermanentError{Reason: "Plimsoll does not know how to restart node " + n.Name,
		Advice: "the node is drained: restart it by hand; when the others see it as up, plimsoll runbook cancel RUN --undo"}
}

// restarted starts a server that is drained, or does not run.
func restarted(ctx context.Context, n cluster.Node) error {
	if running, err := n.Server.Running(ctx); err != nil {
		return err
	} else if running {
		if is, err := modeOfStarting(ctx, n); err != nil || is != "DRAINED" && is != "DRAINING" { // an order that was cut off goes on
			return err
		}
		if err := n.Server.Stop(ctx); err != nil {
			return err
		}
	}
	return n.Server.Start(ctx)
}

// back waits until a node's others have it as up; where none answers, there is nobody who could.
func back(ctx context.Context, on *cluster.Cluster, n cluster.Node) error {
	r, err := ringOf(ctx, on)
	if err != nil || r.alone(n) {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	for {
		v, err := r.view(limited, n.Name)
		if err != nil {
			return ctx.Err()
		}
		if is := v.member(n); is == nil || is.Up {
			return nil
		}
		if err := poll.Rest(limited, often); err != nil {
			return fmt.Errorf("%w: node %s was started, but the others see it as down", err, n.Name)
		}
	}
}
