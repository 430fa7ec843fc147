package kube

import (
	"context"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/kube"
)

func restartAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.restart", Version: 1, About: "Restarts the members of a cluster one after the other through its operator, and waits until all have restarted and serve.",
		New: func() action.Task { return &restart{every: every} },
	}
}

type restart struct {
	every time.Duration
}

var (
	_ action.Verifier       = (*restart)(nil)
	_ action.InFlightWaiter = (*restart)(nil)
)

// restartMark is the annotation of pods that says for which intention they were started, where the operator has none of its own.
const restartMark = "plimsoll.restart"

// Traits says repeatable: the task, or the mark of the pods, has the name of the intention.
func (a *restart) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// Check always finds it needed: no state says that members were restarted.
func (a *restart) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "uid": r.UID()}, Intended: action.Facts{"object": r.String(), "members": "started anew"},
	}
	if err := a.can(r); err != nil {
		return f, err
	}
	waits, err := r.waits(ctx, on)
	switch {
	case err != nil:
		return f, err
	case waits != "":
		unsettled(&f, r, waits)
		return f, nil
	case r.operator.restart == nil:
		return f, r.tryTask(ctx, restartJob)
	}
	return f, r.api.Try(ctx, r.kind, r.Object, r.operator.restart.marked("check"))
}

// can refuses what would not restart anything.
func (a *restart) can(r resource) error {
	by := r.operator.restart
	if by == nil {
		return r.free()
	}
	if by.can != nil {
		if err := by.can(r.Object); err != nil {
			return err
		}
	}
	return r.free(by.field)
}

var restartJob = map[string]any{"name": "restart", "command": "restart"}

func (r restartField) marked(token string) kube.Edit { return kube.Edit{Path: r.field, Value: token} }

func (a *restart) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, err := find(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := a.can(r); err != nil {
		return nil, action.NothingDone{Err: err}
	}
	c.Progress(-1, "requesting the restart")
	by := r.operator.restart
	if by == nil {
		if err := r.askTask(ctx, c.Token, restartJob, nil); err != nil {
			return nil, err
		}
		return a.output(c), r.await(ctx, on, a.every, c, taskDone(c.Token))
	}
	err = r.write(ctx, nil, func(r resource) ([]kube.Edit, error) {
		if r.Text(by.field) == c.Token {
			return nil, nil
		}
		return []kube.Edit{by.marked(c.Token)}, a.can(r)
	})
	if err != nil {
		return nil, err
	}
	return a.output(c), r.await(ctx, on, a.every, c, started(c.Token))
}

func (a *restart) output(c action.Call) action.Facts { return action.Facts{"token": c.Token} }

// started looks whether every pod was started for this intention.
func started(token string) look {
	return func(ctx context.Context, r resource) (string, error) {
		pods, err := r.pods(ctx)
		if err != nil {
			return "", err
		}
		for _, p := range pods {
			if p.Text(kube.Path{"metadata", "annotations", r.operator.restart.shown}) != token {
				return "pod " + p.Name() + " to restart", nil
			}
		}
		return "", nil
	}
}

func (a *restart) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	token, _ := output["token"].(string)
	return verify(ctx, on, func(ctx context.Context, r resource) (string, error) {
		if r.operator.restart == nil {
			return r.taskWaits(ctx, token)
		}
		return started(token)(ctx, r)
	})
}

func (a *restart) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
