package rds

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func promote(at api) action.Action {
	return action.Action{
		Name: "rds.promote", Version: 1, About: "Promotes a read replica to a standalone instance: it accepts writes and replicates from no server any more. It cannot be undone.",
		New: func() action.Task { return &promotion{onInstance: onInstance{api: at}} },
	}
}

type promotion struct{ onInstance }

var (
	_ action.Verifier         = (*promotion)(nil)
	_ action.InFlightWaiter   = (*promotion)(nil)
	_ action.ApprovalDemander = (*promotion)(nil)
)

func (a *promotion) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (a *promotion) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, i, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	source := i.Source
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"instance": i.ID, "follows": source}, Intended: action.Facts{"instance": i.ID, "follows": ""}}
	if source == "" {
		f.Observed["follows"], f.State = "", action.Satisfied
		return f, nil
	}
	if i.Cluster != "" {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("instance %s is a member of Aurora cluster %s", i.ID, i.Cluster), Advice: "aurora/failover makes it the writer"}
	}
	if !i.Settled() {
		f.State, f.Reason = action.Unknown, fmt.Sprintf("instance %s is %s", i.ID, i.Status)
	}
	return f, foreign(i)
}

// ApprovalReason tells what is lost.
func (a *promotion) ApprovalReason(f action.CheckResult) string {
	return fmt.Sprintf("instance %v stops replicating from %v for good; it will never receive transactions that it lacks by then", f.Observed["instance"], f.Observed["follows"])
}

func (a *promotion) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return nil, err
	}
	if i.Source != "" && i.Settled() {
		if err := r.Promote(ctx, i.ID); err != nil && !aws.IsBusy(err) { // busy: an attempt before this one is under way
			return nil, err
		}
	}
	err = a.api.await(ctx, r, i.ID, c, func(now aws.Instance) string {
		if now.Source != "" {
			return fmt.Sprintf("instance %s to stop replicating from %s", i.ID, now.Source)
		}
		return ""
	})
	on.RolesChanged()
	return action.Facts{"followed": i.Source}, err
}

// Verify asks the server itself whether it takes writes.
func (a *promotion) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	return takesWrites(ctx, on, a.Node)
}

func (a *promotion) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return a.settle(ctx, on, c)
}
