package rds

import (
	"cmp"
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func modifyClass(at api) action.Action {
	return action.Action{
		Name: "rds.modify-class", Version: 1, About: "Changes the class of an instance, and with it cores and memory. The instance restarts, and its cache is empty afterwards.",
		New: func() action.Task { return &class{onInstance: onInstance{api: at}} },
	}
}

type class struct {
	onInstance
	Class string `yaml:"class,required" doc:"The class, such as db.r6g.2xlarge."`
}

var (
	_ action.Undoer           = (*class)(nil)
	_ action.Verifier         = (*class)(nil)
	_ action.InFlightWaiter   = (*class)(nil)
	_ action.ApprovalDemander = (*class)(nil)
)

func (a *class) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *class) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, i, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"instance": i.ID, "class": i.Class}, Intended: action.Facts{"instance": i.ID, "class": a.Class},
	}
	if err := foreign(i, aws.PendingClass); err != nil {
		return f, err
	}
	if pending := i.Pending[aws.PendingClass]; pending != "" && pending != a.Class {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("instance %s is already being changed to %s", i.ID, pending), Advice: "wait until that is done, or revert it"}
	}
	switch {
	case i.Class == a.Class && len(i.Pending) == 0:
		f.State = action.Satisfied
	case !i.Settled():
		f.State, f.Reason = action.Unknown, fmt.Sprintf("instance %s is %s", i.ID, i.Status)
	}
	return f, nil
}

// ApprovalReason tells what a resize costs.
func (a *class) ApprovalReason(f action.CheckResult) string {
	return fmt.Sprintf("instance %v restarts with its class: an outage of minutes, less with Multi-AZ, and an empty cache afterwards", f.Observed["instance"])
}

func (a *class) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, a.Class)
}

func (a *class) become(ctx context.Context, on *cluster.Cluster, c action.Call, want string) error {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return err
	}
	if i.Class != want && i.Pending[aws.PendingClass] == "" {
		if err := foreign(i); err != nil {
			return err
		}
		c.Progress(-1, fmt.Sprintf("requesting %s instead of %s", want, i.Class))
		if err := r.Modify(ctx, i.ID, aws.Modification{Class: want}); err != nil {
			return err
		}
	}
	return a.api.await(ctx, r, i.ID, c, func(now aws.Instance) string {
		if now.Class != want || now.Pending[aws.PendingClass] != "" {
			return fmt.Sprintf("class %s of instance %s, which is %s and %s", want, i.ID, now.Class, now.Status)
		}
		return ""
	})
}

func (a *class) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	_, i, err := a.find(ctx, on)
	if err != nil {
		return err
	}
	if i.Class != a.Class {
		return fmt.Errorf("instance %s is %s", i.ID, i.Class)
	}
	return answers(ctx, on, a.Node)
}

func (a *class) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, _ := c.Before["class"].(string)
	if before == "" {
		return fmt.Errorf("the instance's previous class was not recorded")
	}
	_, i, err := a.find(ctx, on)
	if err != nil {
		return err
	}
	if now := cmp.Or(i.Pending[aws.PendingClass], i.Class); now != a.Class && now != before {
		return action.ChangedSince("the class of instance "+i.ID, now, a.Class, before)
	}
	return a.become(ctx, on, c, before)
}

func (a *class) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return a.settle(ctx, on, c, aws.PendingClass)
}
