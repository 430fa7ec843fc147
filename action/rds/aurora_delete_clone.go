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
		Name: "aurora.delete-clone", Version: 2, About: "Deletes a clone that Plimsoll created, with its instances. A cluster that is not one is refused.",
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
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"clone": a.Name}, Intended: action.Facts{"clone": none}}
	c, err := r.Aurora(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		f.State, f.Observed["clone"] = action.Satisfied, none
		return f, nil
	case err != nil:
		return f, err
	}
	f.Observed["needed_until"] = c.Tags[aws.DeleteAfterTag]
	return f, mayDelete(ctx, r, c)
}

// mayDelete refuses a cluster that is not a clone of Plimsoll's, that somebody protects, or that has an instance which Plimsoll did not
// make: somebody uses it.
func mayDelete(ctx context.Context, r *aws.RDS, c aws.Aurora) error {
	if err := c.Clone(); err != nil {
		return &hint.PermanentError{Reason: err.Error(), Advice: "if it is not needed, delete it by hand: aws rds delete-db-cluster --db-cluster-identifier " + c.ID + " --final-db-snapshot-identifier " + c.ID + "-final"}
	}
	if c.Protected {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("clone %s has deletion protection, so it is not deleted", c.ID),
			Advice: "if it is not needed, remove the protection first: aws rds modify-db-cluster --db-cluster-identifier " + c.ID + " --no-deletion-protection",
		}
	}
	members, err := r.Members(ctx, c.ID)
	for _, i := range members {
		if i.Tags[aws.TokenTag] != c.Tags[aws.TokenTag] {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("clone %s has an instance %s that was not created with it, so it is not deleted", c.ID, i.ID),
				Advice: "if that instance is not needed, delete it first: aws rds delete-db-instance --db-instance-identifier " + i.ID,
			}
		}
	}
	return err
}

func (a *deleteClone) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return nil, err
	}
	made, err := r.Aurora(ctx, a.Name)
	if errors.Is(err, aws.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, a.api.deleteClone(ctx, r, made, c)
}

// deleteClone deletes a clone with its instances, having looked once more whether it may.
func (a api) deleteClone(ctx context.Context, r *aws.RDS, made aws.Aurora, c action.Call) error {
	if err := mayDelete(ctx, r, made); err != nil {
		return err
	}
	c.Token = made.Tags[aws.TokenTag] // its members carry the same
	members, err := r.Members(ctx, made.ID)
	if err != nil {
		return err
	}
	for _, i := range members {
		if err := a.remove(ctx, r, i.ID, c, always); err != nil {
			return err
		}
	}
	return a.removeCluster(ctx, r, made.ID, c)
}

// removeCluster deletes a cluster without instances, and waits until it is gone.
func (a api) removeCluster(ctx context.Context, r *aws.RDS, id string, c action.Call) error {
	return a.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		is, err := r.Aurora(ctx, id)
		if errors.Is(err, aws.ErrNotFound) {
			return true, "", nil
		}
		if err == nil && is.Status != "deleting" {
			err = r.DeleteCluster(ctx, id)
		}
		return false, fmt.Sprintf("the deletion of cluster %s, which is %s", id, is.Status), err
	})
}

// AwaitInFlight has nothing to wait for: deleting goes on, and is asked for again where it did not begin.
func (a *deleteClone) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error { return nil }
