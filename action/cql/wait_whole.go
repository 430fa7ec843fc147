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
)

var wholeAction = action.Action{
	Name: "cql.wait-whole", Version: 1,
	About: "Waits until every member is up and normal, the schemas agree, no data is streaming and no hints are left to deliver.",
	New:   func() action.Task { return &whole{} },
}

type whole struct {
	But        string `yaml:"but" doc:"A node that will be replaced and is therefore down. Refused while it is alive. Default: none."`
	AcceptLoss string `yaml:"accept_loss" doc:"With but: keyspaces, separated by commas, of which the dead node may have had the only replica. Default: none."`
	Joins      string `yaml:"joins" doc:"A node that will join and is therefore not a member yet. Default: none."`
	Alone      bool   `yaml:"alone" doc:"Refuse while another node joins, leaves or moves, which may take hours. Default: wait for it."`
}

var _ action.Verifier = (*whole)(nil)

func (w *whole) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

// Check refuses while the node that is to be replaced lives, while a node is listed that is no member and does not run, and, if it is
// to, while another change of the ring is under way. A ring that nobody answers for now is waited for: its nodes may have been
// restarted a moment ago.
func (w *whole) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"ring": "whole"}}
	v, but, err := w.look(ctx, on)
	if out(err) && ctx.Err() == nil {
		f.Reason = err.Error()
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if but != nil && but.Up {
		if f.Reason, err = w.dying(ctx, on, *but); err != nil || f.Reason != "" {
			return f, err
		}
	}
	if moving := v.changing(but); w.Alone && len(moving) > 0 {
		return f, &hint.PermanentError{Reason: "another change of the ring is under way: " + strings.Join(moving, ", "), Advice: ofMoving}
	}
	if err := v.strangers(ctx, w.But, w.Joins); err != nil {
		return f, err
	}
	if but != nil {
		if err := v.keeps(ctx, w.But, w.AcceptLoss); err != nil {
			return f, err
		}
	}
	if f.Reason, err = v.lacks(ctx, but); err == nil && f.Reason == "" {
		f.State = action.Satisfied
	}
	return f, err
}

// out tells whether nobody could be asked, or was lost while being asked.
func out(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && (e.Lost || e.Kind == engine.Unavailable || e.Kind == engine.Timeout)
}

// dying says that the ring still has a node as up whose server is known not to run, which it notices in a moment. It refuses one that
// lives.
func (w *whole) dying(ctx context.Context, on *cluster.Cluster, but engine.Member) (string, error) {
	n, err := on.Node(ctx, w.But)
	if err != nil {
		return "", err
	}
	if n.Server != nil {
		if running, err := n.Server.Running(ctx); err == nil && !running {
			return fmt.Sprintf("the ring still sees %s as up, but its server is not running", named(but)), nil
		}
	}
	return "", alive(n, but)
}

func (w *whole) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, w.on(on).Await(ctx, c, often)
}

// Verify has nothing to add: it was whole, and may have hints to deliver again a moment later.
func (w *whole) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func (w *whole) on(on *cluster.Cluster) action.Missing {
	return func(ctx context.Context) (string, error) {
		v, but, err := w.look(ctx, on)
		if err != nil {
			return "", err
		}
		if but != nil && but.Up {
			return w.dying(ctx, on, *but)
		}
		return v.lacks(ctx, but)
	}
}

// look is the ring, and the member of it that may be down; nil if all must be up.
func (w *whole) look(ctx context.Context, on *cluster.Cluster) (view, *engine.Member, error) {
	r, err := ringOf(ctx, on)
	if err != nil {
		return view{}, nil, err
	}
	v, err := r.view(ctx, w.But)
	if err != nil || w.But == "" {
		return v, nil, err
	}
	n, err := on.Node(ctx, w.But)
	if err != nil {
		return v, nil, err
	}
	return v, v.member(n), nil
}

// changing are the members that join, leave or move.
func (v view) changing(but *engine.Member) []string {
	var all []string
	for _, m := range v.unfit(but) {
		if m.Part != engine.Normal {
			all = append(all, named(m))
		}
	}
	return all
}

// lacks says what is not yet as it should be; empty if all is.
func (v view) lacks(ctx context.Context, but *engine.Member) (string, error) {
	if unfit := v.unfit(but); len(unfit) > 0 {
		said, _ := v.diagnoses(ctx, unfit)
		return said, nil
	}
	if reason := v.disagreement(); reason != "" {
		return reason, nil
	}
	if _, _, transfers, err := v.moving(ctx); err != nil || transfers > 0 {
		return fmt.Sprintf("%d streams between nodes", transfers), err
	}
	hints, err := v.db.Hints(ctx)
	var silent *engine.SilentError
	if err != nil && !errors.As(err, &silent) {
		return "", err
	}
	for _, h := range hints { // those for a host that has left the ring are never delivered
		if _, is := v.Find(h.For); is && (but == nil || h.For != but.Host) {
			return host(h.Node) + " stores hints for others", nil
		}
	}
	if silent == nil {
		return "", nil
	}
	for _, address := range silent.Nodes { // a node that left long ago may be asked still
		if m, is := v.Find(address); is && (but == nil || m.Host != but.Host) {
			return host(address) + " did not answer in time whether it stores hints for others", nil
		}
	}
	return "", nil
}
