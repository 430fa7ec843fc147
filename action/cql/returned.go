package cql

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var returnedAction = action.Action{
	Name: "cql.wait-returned", Version: 1,
	About: "Waits until every other node that answers sees a member as up and normal (UN) at its address and with its host id, and none stores hints for it any more.",
	New:   func() action.Task { return &returned{} },
}

type returned struct {
	Node string `yaml:"node,required" doc:"Which node."`
	Host string `yaml:"host" doc:"The host id that it must have. Default: any."`
}

var _ action.Verifier = (*returned)(nil)

func (w *returned) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *returned) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"seen by the others": "UN"}}
	missing, err := w.missing(ctx, on)
	if err != nil && !permanent(err) && ctx.Err() == nil { // it may not have been started yet
		missing, err = err.Error(), nil
	}
	if f.Reason = missing; err == nil && missing == "" {
		f.State = action.Satisfied
	}
	return f, err
}

func permanent(err error) bool {
	var p *hint.PermanentError
	return errors.As(err, &p)
}

func (w *returned) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	for {
		missing, err := w.missing(ctx, on)
		switch {
		case err == nil && missing == "":
			return nil, nil
		case permanent(err):
			return nil, err
		case err != nil:
			missing = err.Error()
		}
		c.Progress(-1, missing)
		if cause := poll.Rest(ctx, often); cause != nil {
			return nil, fmt.Errorf("%w; missing: %s", cause, missing)
		}
	}
}

// Verify has nothing to add: it was seen, and there may be hints for it again a moment later.
func (w *returned) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// missing asks every other node that serves how it sees the member.
func (w *returned) missing(ctx context.Context, on *cluster.Cluster) (string, error) {
	n, err := on.Node(ctx, w.Node)
	if err != nil {
		return "", err
	}
	r, err := ringOf(ctx, on)
	if err != nil || r.alone(n) {
		return "", err
	}
	var asked *view
	for _, other := range r.nodes {
		if other.Name == n.Name || !serves(ctx, other) {
			continue
		}
		v, err := r.viewOf(ctx, other)
		if err != nil {
			return "", fmt.Errorf("ask node %s: %w", other.Name, err)
		}
		if missing, err := w.unseen(v, n); err != nil || missing != "" {
			return missing, err
		}
		asked = &v
	}
	if asked == nil {
		return "no other node of " + on.Name + " runs that could see it", nil
	}
	return hintsFor(ctx, *asked, *asked.member(n))
}

// unseen says how one node does not see the member as it should; empty if it does.
func (w *returned) unseen(v view, n cluster.Node) (string, error) {
	is := v.member(n)
	switch {
	case is == nil:
		return fmt.Sprintf("%s has no member at %s yet", host(v.Asked), n.Target.Addresses[0]), nil
	case w.Host != "" && is.Host != w.Host:
		return "", &hint.PermanentError{Reason: fmt.Sprintf("node %s is the member %s, but should have come back as %s", n.Name, is.Host, w.Host),
			Advice: "it was started with a different data folder. Stop it, and check what is mounted at its data folder"}
	case !is.Up || is.Part != engine.Normal:
		return fmt.Sprintf("%s sees %s", host(v.Asked), named(*is)), nil
	}
	return "", nil
}

// hintsFor says who keeps hints for a member; empty if nobody does.
func hintsFor(ctx context.Context, v view, m engine.Member) (string, error) {
	hints, err := v.db.Hints(ctx)
	var silent *engine.SilentError
	if err != nil && !errors.As(err, &silent) {
		return "", err
	}
	for _, h := range hints {
		if h.For == m.Host {
			return fmt.Sprintf("%s stores hints for it", host(h.Node)), nil
		}
	}
	if silent == nil {
		return "", nil
	}
	for _, address := range silent.Nodes {
		if other, is := v.Find(address); is && other.Up && other.Host != m.Host {
			return host(address) + " did not answer in time whether it stores hints for it", nil
		}
	}
	return "", nil
}
