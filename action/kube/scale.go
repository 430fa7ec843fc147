package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/kube"
)

func scaleAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.scale", Version: 1, About: "Changes how many members an operator's cluster has, and waits until the operator, the pods and the database show them.",
		New: func() action.Task { return &scale{every: every} },
	}
}

type scale struct {
	Members int `yaml:"members,required" doc:"The new number of members."`

	every time.Duration
}

var (
	_ action.Undoer           = (*scale)(nil)
	_ action.Verifier         = (*scale)(nil)
	_ action.InFlightWaiter   = (*scale)(nil)
	_ action.ApprovalDemander = (*scale)(nil)
)

func (a *scale) Validate() error {
	if a.Members < 1 {
		return errors.New("members must be at least 1")
	}
	return nil
}

func (a *scale) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *scale) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	s, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	has, _ := s.Int(s.operator.size)
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": s.String(), "uid": s.UID(), "members": has}, Intended: action.Facts{"object": s.String(), "members": a.Members},
	}
	waits, err := s.waits(ctx, on)
	switch {
	case err != nil:
		return f, err
	case has == int64(a.Members) && waits == "":
		f.State = action.Satisfied
		return f, nil
	case has == int64(a.Members): // asked for already
		f.Reason = "the operator is still waiting for " + waits
		return f, s.free()
	}
	edits, err := a.edits(s, int64(a.Members))
	if err == nil && waits != "" {
		unsettled(&f, s, waits)
		return f, nil
	}
	if err == nil {
		err = s.api.Try(ctx, s.kind, s.Object, edits...)
	}
	return f, err
}

// edits are those that make it so many; none if it is.
func (a *scale) edits(s site, to int64) ([]kube.Edit, error) {
	if err := s.free(s.operator.size); err != nil {
		return nil, err
	}
	switch has, _ := s.Int(s.operator.size); {
	case has == to:
		return nil, nil
	case has > to && s.operator.shrinks != nil:
		if err := s.operator.shrinks(s.Object, to); err != nil {
			return nil, err
		}
	case has < to && s.operator.grows != nil:
		if err := s.operator.grows(s.Object); err != nil {
			return nil, err
		}
	}
	return []kube.Edit{{Path: s.operator.size, Value: to}}, nil
}

// ApprovalReason tells what members that go take with them.
func (a *scale) ApprovalReason(f action.CheckResult) string {
	if has, ok := f.Observed["members"].(int64); ok && has > int64(a.Members) {
		return fmt.Sprintf("%d of %d members are removed; the operator may delete their volumes", has-int64(a.Members), has)
	}
	return ""
}

func (a *scale) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, int64(a.Members), nil)
}

func (a *scale) become(ctx context.Context, on *cluster.Cluster, c action.Call, to int64, may judge) error {
	s, err := find(ctx, on)
	if err != nil {
		return err
	}
	if err := s.write(ctx, may, func(s site) ([]kube.Edit, error) { return a.edits(s, to) }); err != nil {
		return err
	}
	return s.await(ctx, on, a.every, c, a.has(to))
}

// has looks whether the size that is asked for is still the one: somebody else may have asked for another.
func (a *scale) has(want int64) look {
	return func(_ context.Context, s site) (string, error) {
		if is, _ := s.Int(s.operator.size); is != want {
			return "", changedMeanwhile(s, s.operator.size, want)
		}
		return "", nil
	}
}

func (a *scale) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	return verify(ctx, on, a.has(int64(a.Members)))
}

func (a *scale) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := number(c.Before["members"])
	if !ok {
		return errors.New("the previous number of members was not recorded")
	}
	size := func(s site) any {
		is, _ := s.Int(s.operator.size)
		return is
	}
	return a.become(ctx, on, c, before, stillOurs(c.Before, "the number of members", size, int64(a.Members), before))
}

func (a *scale) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
