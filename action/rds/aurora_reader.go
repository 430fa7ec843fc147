package rds

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraAddReader(at api) action.Action {
	return action.Action{
		Name: "aurora.add-reader", Version: 1, About: "Creates a reader in an Aurora cluster and waits until it serves. Its cache is empty: warm it before it gets traffic.",
		New: func() action.Task { return &reader{api: at} },
	}
}

type reader struct {
	Name  string `yaml:"name,required" doc:"The new instance's name in RDS."`
	Class string `yaml:"class,required" doc:"The class, such as db.r6g.large."`

	api api
}

var (
	_ action.Undoer         = (*reader)(nil)
	_ action.InFlightWaiter = (*reader)(nil)
)

func (a *reader) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *reader) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, c, err := a.api.aurora(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"cluster": c.ID, "reader": "none"}, Intended: action.Facts{"cluster": c.ID, "reader": a.Name}}
	i, err := r.Instance(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		return f, nil
	case err != nil:
		return f, err
	case i.Cluster != c.ID:
		return f, &hint.PermanentError{Reason: fmt.Sprintf("there is an instance %s already, and it is not of cluster %s", a.Name, c.ID), Advice: "choose another name"}
	}
	f.Observed["reader"] = i.ID
	if i.Settled() && slices.Contains(c.Members, i.ID) {
		f.State = action.Satisfied
	} else {
		f.Reason = "it is " + i.Status
	}
	return f, i.Usable()
}

func (a *reader) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, of, err := a.api.aurora(ctx, on)
	if err != nil {
		return nil, err
	}
	return a.api.member(ctx, r, of, aws.NewInstance{ID: a.Name, Class: a.Class, Tags: map[string]string{aws.TokenTag: c.Token}}, c)
}

// member makes an instance of a cluster, if it is not there, and waits until it serves.
func (a api) member(ctx context.Context, r *aws.RDS, of aws.Aurora, n aws.NewInstance, c action.Call) (action.Facts, error) {
	if _, err := r.Instance(ctx, n.ID); errors.Is(err, aws.ErrNotFound) {
		if err := r.CreateMember(ctx, of.ID, of.Engine, n); err != nil {
			return nil, err
		}
	}
	if err := a.await(ctx, r, n.ID, c, func(aws.Instance) string { return "" }); err != nil {
		return nil, err
	}
	i, err := r.Instance(ctx, n.ID)
	return action.Facts{"instance": i.ID, "address": i.Endpoint}, err
}

// Undo deletes the reader if this run made it, and it is one still.
func (a *reader) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	return a.api.remove(ctx, r, a.Name, c, func(i aws.Instance) error {
		of, err := r.Aurora(ctx, i.Cluster)
		if err != nil || of.Writer != i.ID {
			return err
		}
		return &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s is the writer of cluster %s now, and is not deleted", i.ID, of.ID),
			Advice: "keep it; to delete it, first make another instance the writer, with aurora/failover",
		}
	})
}

func (a *reader) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	if _, err := r.Instance(ctx, a.Name); errors.Is(err, aws.ErrNotFound) {
		return nil
	}
	return a.api.await(ctx, r, a.Name, c, func(aws.Instance) string { return "" })
}
