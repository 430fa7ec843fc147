package kube

import (
	"context"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/kube"
)

func pauseAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.pause", Version: 1, About: "Pauses the operator for one cluster, for work that it would interfere with. Until it is resumed, the operator repairs nothing there.",
		New: func() action.Task { return &pause{paused: true, every: every} },
	}
}

func resumeAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.resume", Version: 1, About: "Resumes the operator for a cluster, and waits until it has applied what it finds.",
		New: func() action.Task { return &pause{every: every} },
	}
}

type pause struct {
	paused bool
	every  time.Duration
}

var (
	_ action.Undoer   = (*pause)(nil)
	_ action.Verifier = (*pause)(nil)
)

func (a *pause) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *pause) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "uid": r.UID(), "paused": r.operator.suspend != nil && r.Is(r.operator.suspend)},
		Intended: action.Facts{"object": r.String(), "paused": a.paused},
	}
	edits, err := a.edits(r, a.paused)
	switch {
	case err != nil:
		return f, err
	case len(edits) > 0 && a.paused: // in the middle of what it does, nobody leaves it
		waits, err := r.waits(ctx, on)
		if err == nil && waits != "" {
			unsettled(&f, r, waits)
			return f, nil
		}
		if err != nil {
			return f, err
		}
	case len(edits) == 0:
		f.State = action.Satisfied
		return f, nil
	}
	return f, r.api.Try(ctx, r.kind, r.Object, edits...)
}

func (a *pause) edits(r resource, paused bool) ([]kube.Edit, error) {
	suspend := r.operator.suspend
	if suspend == nil {
		return nil, r.lacks("kube.pause", "pause for one cluster")
	}
	if r.Is(suspend) == paused {
		return nil, nil
	}
	if paused {
		if err := r.free(suspend); err != nil {
			return nil, err
		}
	}
	return []kube.Edit{{Path: suspend, Value: paused}}, nil
}

func (a *pause) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, a.paused, nil)
}

func (a *pause) become(ctx context.Context, on *cluster.Cluster, c action.Call, paused bool, may judge) error {
	r, err := find(ctx, on)
	if err != nil {
		return err
	}
	if err := r.write(ctx, may, func(r resource) ([]kube.Edit, error) { return a.edits(r, paused) }); err != nil {
		return err
	}
	if paused {
		return nil
	}
	return r.await(ctx, on, a.every, c, nil)
}

func (a *pause) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	r, err := find(ctx, on)
	if err == nil && r.Is(r.operator.suspend) != a.paused {
		err = fmt.Errorf("%s of %s is %v", r.operator.suspend, r, r.Is(r.operator.suspend))
	}
	return err
}

func (a *pause) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := c.Before["paused"].(bool)
	if !ok {
		return fmt.Errorf("the previous state of the operator (paused or not) was not recorded")
	}
	paused := func(r resource) any { return r.Is(r.operator.suspend) }
	return a.become(ctx, on, c, before, stillOurs(c.Before, "whether the operator leaves it alone", paused, a.paused, before))
}
