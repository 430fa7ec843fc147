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

func auroraDeleteClone(at api) action.Action {
	return action.Action{
		Name: "aurora.delete-clone", Version: 1, About: "Deletes a clone that Plimsoll created, with its instance. A cluster without Plimsoll's tag is refused.",
		New: func() action.Task { return &deleteClone{api: at} },
	}
}

type deleteClone struct {
	Name string `yaml:"name,required" doc:"The clone."`

	api api
}

var _ action.InFlightWaiter = (*deleteClone)(nil)

func (a *deleteClone) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (a *deleteClone) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"clone": a.Name}, Intended: action.Facts{"clone": "none"}}
	c, err := r.Aurora(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		f.State, f.Observed["clone"] = action.Satisfied, "none"
		return f, nil
	case err != nil:
		return f, err
	case c.Tags[aws.TokenTag] == "" || c.Tags[aws.DeleteAfterTag] == "":
		return f, &hint.PermanentError{Reason: fmt.Sprintf("cluster %s is not a clone that Plimsoll created: it lacks the tags %s and %s", a.Name, aws.TokenTag, aws.DeleteAfterTag)}
	}
	f.Observed["needed_until"] = c.Tags[aws.DeleteAfterTag]
	return f, nil
}

func (a *deleteClone) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	f, err := a.Check(ctx, on)
	if err != nil || f.State == action.Satisfied {
		return nil, err
	}
	r, err := a.api.of(ctx, on)
	if err != nil {
		return nil, err
	}
	made, err := r.Aurora(ctx, a.Name)
	if err != nil {
		return nil, err
	}
	owned := c
	owned.Token = made.Tags[aws.TokenTag] // its members carry the same
	for _, member := range made.Members {
		if err := a.api.remove(ctx, r, member, owned, always); err != nil {
			return nil, err
		}
	}
	return nil, r.DeleteCluster(ctx, a.Name)
}

// AwaitInFlight has nothing to wait for: deleting goes on, and is asked for again where it did not begin.
func (a *deleteClone) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error { return nil }
