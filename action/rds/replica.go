package rds

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func createReplica(at api) action.Action {
	return action.Action{
		Name: "rds.create-replica", Version: 1, About: "Creates a read replica of an instance and waits until it serves. Add it to plimsoll.yaml afterwards.",
		New: func() action.Task { return &replica{onInstance: onInstance{api: at}} },
	}
}

type replica struct {
	onInstance
	Name  string `yaml:"name,required" doc:"The new instance's name in RDS."`
	Class string `yaml:"class" doc:"The class of the new instance. Default: that of its source."`
}

var (
	_ action.Undoer         = (*replica)(nil)
	_ action.Verifier       = (*replica)(nil)
	_ action.InFlightWaiter = (*replica)(nil)
)

func (a *replica) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *replica) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, source, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"source": source.ID, "replica": "none"}, Intended: action.Facts{"source": source.ID, "replica": a.Name}}
	i, err := r.Instance(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		return f, nil
	case err != nil:
		return f, err
	case i.Source != source.ID:
		return f, &hint.PermanentError{Reason: fmt.Sprintf("there is an instance %s already, and it is not a replica of %s", a.Name, source.ID), Advice: "choose another name"}
	}
	f.Observed["replica"] = i.ID
	if i.Settled() {
		f.State = action.Satisfied
	} else {
		f.Reason = fmt.Sprintf("it is %s", i.Status)
	}
	return f, i.Usable()
}

func (a *replica) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, source, err := a.find(ctx, on)
	if err != nil {
		return nil, err
	}
	if _, err := r.Instance(ctx, a.Name); errors.Is(err, aws.ErrNotFound) {
		if err := r.CreateReplica(ctx, source.ID, aws.NewInstance{ID: a.Name, Class: a.Class, Tags: map[string]string{aws.TokenTag: c.Token}}); err != nil {
			return nil, err
		}
	}
	if err := a.api.await(ctx, r, a.Name, c, func(aws.Instance) string { return "" }); err != nil {
		return nil, err
	}
	i, err := r.Instance(ctx, a.Name)
	return action.Facts{"instance": i.ID, "address": i.Endpoint}, err
}

func (a *replica) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := a.Check(ctx, on)
	if err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("replica %s: %s", a.Name, f.Reason)
	}
	return err
}

// Undo deletes the replica if this run made it, and it is one still.
func (a *replica) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	return a.api.remove(ctx, r, a.Name, c, func(i aws.Instance) error {
		if i.Source != "" {
			return nil
		}
		return &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s replicates from no instance any more: it is a standalone primary now, and is not deleted", i.ID),
			Advice: "keep it; if it and its data are not needed, delete it by hand: aws rds delete-db-instance --db-instance-identifier " + i.ID + " --final-db-snapshot-identifier " + i.ID + "-final",
		}
	})
}

func (a *replica) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	if _, err := r.Instance(ctx, a.Name); errors.Is(err, aws.ErrNotFound) {
		return nil // it was never asked for
	}
	return a.api.await(ctx, r, a.Name, c, func(aws.Instance) string { return "" })
}

// remove deletes an instance that the call's intention has made, and waits until it is gone. Another's is left, and refused, and so is
// one that may not go any more, as it is now.
func (a api) remove(ctx context.Context, r *aws.RDS, id string, c action.Call, mayGo func(aws.Instance) error) error {
	i, err := r.Instance(ctx, id)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		return nil
	case err != nil:
		return err
	case i.Tags[aws.TokenTag] != c.Token:
		return &hint.PermanentError{Reason: fmt.Sprintf("instance %s was not created by this run, so it is not deleted", id)}
	}
	if i.Status != "deleting" {
		if err := mayGo(i); err != nil {
			return err
		}
		if err := r.Delete(ctx, i); err != nil {
			return err
		}
	}
	return a.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, id)
		if errors.Is(err, aws.ErrNotFound) {
			return true, "", nil
		}
		return false, fmt.Sprintf("the deletion of instance %s, which is %s", id, i.Status), err
	})
}

// always lets an instance go whatever it has become: that of a clone, which is its cluster's writer from the first.
func always(aws.Instance) error { return nil }
