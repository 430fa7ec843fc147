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
	s, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": s.String(), "uid": s.UID(), "paused": s.operator.suspend != nil && s.Is(s.operator.suspend)},
		Intended: action.Facts{"object": s.String(), "paused": a.paused},
	}
	edits, err := a.edits(s, a.paused)
	switch {
	case err != nil:
		return f, err
	case len(edits) > 0 && a.paused: // in the middle of what it does, nobody leaves it
		waits, err := s.waits(ctx, on)
		if err == nil && waits != "" {
			unsettled(&f, s, waits)
			return f, nil
		}
		if err != nil {
			return f, err
		}
	case len(edits) == 0:
		f.State = action.Satisfied
		return f, nil
	}
	return f, s.api.Try(ctx, s.kind, s.Object, edits...)
}

func (a *pause) edits(s site, paused bool) ([]kube.Edit, error) {
	suspend := s.operator.suspend
	if suspend == nil {
		return nil, s.lacks("kube.pause", "pause for one cluster")
	}
	if s.Is(suspend) == paused {
		return nil, nil
	}
	if paused {
		if err := s.free(suspend); err != nil {
			return nil, err
		}
	}
	return []kube.Edit{{Path: suspend, Value: paused}}, nil
}

func (a *pause) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, a.paused, nil)
}

func (a *pause) become(ctx context.Context, on *cluster.Cluster, c action.Call, paused bool, may judge) error {
	s, err := find(ctx, on)
	if err != nil {
		return err
	}
	if err := s.write(ctx, may, func(s site) ([]kube.Edit, error) { return a.edits(s, paused) }); err != nil {
		return err
	}
	if paused {
		return nil
	}
	return s.await(ctx, on, a.every, c, nil)
}

func (a *pause) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	s, err := find(ctx, on)
	if err == nil && s.Is(s.operator.suspend) != a.paused {
		err = fmt.Errorf("%s of %s is %v", s.operator.suspend, s, s.Is(s.operator.suspend))
	}
	return err
}

func (a *pause) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := c.Before["paused"].(bool)
	if !ok {
		return fmt.Errorf("the previous state of the operator (paused or not) was not recorded")
	}
	paused := func(s site) any { return s.Is(s.operator.suspend) }
	return a.become(ctx, on, c, before, stillOurs(c.Before, "whether the operator leaves it alone", paused, a.paused, before))
}
