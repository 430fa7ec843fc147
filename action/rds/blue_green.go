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

func createBlueGreen(at api) action.Action {
	return action.Action{
		Name: "rds.create-blue-green", Version: 1, About: "Creates a blue/green deployment: a copy of an instance, optionally with another version or class, that replicates from it and can take its place.",
		New: func() action.Task { return &blueGreen{onInstance: onInstance{api: at}} },
	}
}

type blueGreen struct {
	onInstance
	Name    string `yaml:"name,required" doc:"The deployment's name in RDS."`
	Version string `yaml:"version" doc:"Version or class of the copy. Default: as the instance's."`
	Class   string `yaml:"class" doc:"Version or class of the copy. Default: as the instance's."`
}

var (
	_ action.Undoer         = (*blueGreen)(nil)
	_ action.Verifier       = (*blueGreen)(nil)
	_ action.InFlightWaiter = (*blueGreen)(nil)
)

func (a *blueGreen) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *blueGreen) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"instance": i.ID, "version": i.Version, "class": i.Class, "deployment": "none"},
		Intended: action.Facts{"deployment": a.Name, "version": orAsIs(a.Version, i.Version), "class": orAsIs(a.Class, i.Class)},
	}
	d, err := r.BlueGreen(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		if i.Source != "" || i.Cluster != "" {
			return f, &hint.PermanentError{
				Reason: fmt.Sprintf("instance %s is a replica or a member of Aurora, for which RDS creates no blue/green deployment of its own", i.ID),
				Advice: "name the instance that accepts writes",
			}
		}
		return f, foreign(i)
	case err != nil:
		return f, err
	case d.Source != i.ARN && d.Target != i.ARN:
		return f, &hint.PermanentError{Reason: fmt.Sprintf("there is a deployment %s already, and it is not of %s", a.Name, i.ID), Advice: "choose another name"}
	}
	f.Observed["deployment"] = d.Name + ", " + d.Status
	switch d.Status {
	case aws.BlueGreenAvailable, aws.BlueGreenSwitching, aws.BlueGreenSwitched:
		f.State = action.Satisfied
	default:
		f.Reason = fmt.Sprintf("it is %s %s", d.Status, d.Detail)
	}
	return f, nil
}

func orAsIs(want, is string) string {
	if want == "" {
		return is
	}
	return want
}

func (a *blueGreen) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return nil, err
	}
	if _, err := r.BlueGreen(ctx, a.Name); errors.Is(err, aws.ErrNotFound) {
		if err := r.CreateBlueGreen(ctx, aws.NewBlueGreen{
			Name: a.Name, Source: i.ARN, Version: a.Version, Class: a.Class, Tags: map[string]string{aws.TokenTag: c.Token},
		}); err != nil {
			return nil, err
		}
	}
	if err := a.await(ctx, r, c); err != nil {
		return nil, err
	}
	d, err := r.BlueGreen(ctx, a.Name)
	return action.Facts{"deployment": d.ID, "copy": d.Target}, err
}

func (a *blueGreen) await(ctx context.Context, r *aws.RDS, c action.Call) error {
	return a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		d, err := r.BlueGreen(ctx, a.Name)
		if err != nil {
			return false, "", err
		}
		return d.Status != "PROVISIONING", fmt.Sprintf("deployment %s, which is %s", a.Name, d.Status), nil
	})
}

func (a *blueGreen) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := a.Check(ctx, on)
	if err == nil && f.State != action.Satisfied {
		err = fmt.Errorf("deployment %s: %s", a.Name, f.Reason)
	}
	return err
}

// Undo deletes the deployment with its copy, if this run made it and the copy has not taken the instance's place.
func (a *blueGreen) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	d, err := r.BlueGreen(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		return nil
	case err != nil:
		return err
	case d.Tags[aws.TokenTag] != c.Token:
		return &hint.PermanentError{Reason: fmt.Sprintf("deployment %s was not created by this run, so it is not deleted", a.Name)}
	case d.Status == aws.BlueGreenSwitched || d.Status == aws.BlueGreenSwitching:
		return &hint.PermanentError{
			Reason: fmt.Sprintf("the copy of deployment %s has taken the instance's place, so it is not deleted", a.Name), Advice: "switch back with rds/blue-green-back",
		}
	}
	if err := r.DeleteBlueGreen(ctx, d); err != nil {
		return err
	}
	return a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		_, err := r.BlueGreen(ctx, a.Name)
		if errors.Is(err, aws.ErrNotFound) {
			return true, "", nil
		}
		return false, "the deletion of deployment " + a.Name, err
	})
}

func (a *blueGreen) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	if _, err := r.BlueGreen(ctx, a.Name); errors.Is(err, aws.ErrNotFound) {
		return nil // it was never asked for
	}
	return a.await(ctx, r, c)
}
