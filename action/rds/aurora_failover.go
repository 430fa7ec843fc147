package rds

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraFailover(at api) action.Action {
	return action.Action{
		Name: "aurora.failover", Version: 1, About: "Makes a reader the writer of its Aurora cluster, and waits until its server itself accepts writes. Writes fail for seconds.",
		New: func() action.Task { return &failover{onInstance: onInstance{api: at}} },
	}
}

// failover names its target always: then it may be asked for again.
type failover struct{ onInstance }

var (
	_ action.Undoer         = (*failover)(nil)
	_ action.Verifier       = (*failover)(nil)
	_ action.InFlightWaiter = (*failover)(nil)
)

func (a *failover) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// aurora returns the cluster that a cluster of the inventory is.
func (a api) aurora(ctx context.Context, on *cluster.Cluster) (*aws.RDS, aws.Aurora, error) {
	r, err := a.of(ctx, on)
	if err != nil {
		return nil, aws.Aurora{}, err
	}
	if on.AWS.Aurora == "" {
		return nil, aws.Aurora{}, &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know which cluster of Aurora %s is", on.Name), Advice: "set it in plimsoll.yaml: aws: {region: ap-northeast-2, aurora: NAME}",
		}
	}
	c, err := r.Aurora(ctx, on.AWS.Aurora)
	return r, c, err
}

func (a *failover) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, c, err := a.api.aurora(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	id, err := a.id(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"writer": c.Writer}, Intended: action.Facts{"writer": id}}
	switch {
	case c.Writer == id:
		f.State = action.Satisfied
	case !slices.Contains(c.Members, id):
		return f, &hint.PermanentError{Reason: fmt.Sprintf("instance %s is not a member of Aurora cluster %s", id, c.ID)}
	}
	return f, nil
}

func (a *failover) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	id, err := a.id(ctx, on)
	if err != nil {
		return nil, err
	}
	return nil, a.to(ctx, on, c, id)
}

// to makes an instance the writer. A request that is accepted may be abandoned, when another failover was just before: the wait ends
// with the step's timeout then, and a retry asks again.
func (a *failover) to(ctx context.Context, on *cluster.Cluster, c action.Call, id string) error {
	r, now, err := a.api.aurora(ctx, on)
	if err != nil {
		return err
	}
	if now.Writer != id {
		if err := r.Failover(ctx, now.ID, id); err != nil {
			return err
		}
	}
	err = a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		now, err := r.Aurora(ctx, now.ID)
		return err == nil && now.Writer == id, fmt.Sprintf("instance %s as the writer, which is %s", id, now.Writer), err
	})
	on.RolesChanged()
	return err
}

// Verify asks the server itself: the API may be ahead of it, or behind.
func (a *failover) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	shown, db, err := setting(ctx, on, a.Node, "innodb_read_only")
	if err != nil {
		return err
	}
	if !db.SameValue("innodb_read_only", "off", shown) {
		return fmt.Errorf("node %s accepts no writes: innodb_read_only is %s", a.Node, shown)
	}
	return nil
}

// Undo makes the writer of before the writer again, unless another instance than the one that was asked for is it by now.
func (a *failover) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, _ := c.Before["writer"].(string)
	if before == "" {
		return fmt.Errorf("the previous writer was not recorded")
	}
	id, err := a.id(ctx, on)
	if err != nil {
		return err
	}
	_, now, err := a.api.aurora(ctx, on)
	if err != nil {
		return err
	}
	if now.Writer != id && now.Writer != before {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s is the writer of cluster %s now; this run made %s the writer, in the place of %s", now.Writer, now.ID, id, before),
			Advice: "leave it as it is: plimsoll runbook cancel RUN --leave REASON",
		}
	}
	return a.to(ctx, on, c, before)
}

// AwaitInFlight has nothing to wait for: the check sees who the writer is, and with its target named a failover may be asked for again.
func (a *failover) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error { return nil }
