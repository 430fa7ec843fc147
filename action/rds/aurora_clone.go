package rds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraClone(at api) action.Action {
	return action.Action{
		Name: "aurora.clone", Version: 2,
		About: "Makes a fast clone of an Aurora cluster, with one instance, for a rehearsal. It shares its pages with the original until either changes them; its tag says until when it is needed, and aurora.delete-expired-clones deletes it after that.",
		New:   func() action.Task { return &clone{api: at, For: 6 * time.Hour} },
	}
}

type clone struct {
	Name  string        `yaml:"name,required" doc:"The name of the clone; its instance gets the same name with -1 at the end."`
	Class string        `yaml:"class,required" doc:"Class of its instance, such as db.r6g.large."`
	For   time.Duration `yaml:"for" doc:"How long it is needed, recorded in its tag plimsoll:delete-after. Default 6h."`

	api api
}

var (
	_ action.Undoer         = (*clone)(nil)
	_ action.Validator      = (*clone)(nil)
	_ action.InFlightWaiter = (*clone)(nil)
)

func (a *clone) Validate() error {
	if a.For <= 0 {
		return errors.New("for must be longer than zero")
	}
	return nil
}

func (a *clone) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *clone) instance() string { return a.Name + "-1" }

func (a *clone) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, source, err := a.api.aurora(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"source": source.ID, "clone": "none"}, Intended: action.Facts{"source": source.ID, "clone": a.Name}}
	c, err := r.Aurora(ctx, a.Name)
	if errors.Is(err, aws.ErrNotFound) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if c.Tags[aws.TokenTag] == "" {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("there is a cluster %s already, and Plimsoll did not create it", a.Name), Advice: "choose another name"}
	}
	f.Observed["clone"] = c.ID
	i, err := r.Instance(ctx, a.instance())
	if errors.Is(err, aws.ErrNotFound) {
		f.Reason = "it has no instance yet"
		return f, nil
	}
	if err == nil && i.Settled() {
		f.State = action.Satisfied
	}
	return f, err
}

func (a *clone) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, source, err := a.api.aurora(ctx, on)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(a.For)
	made, err := r.Aurora(ctx, a.Name)
	if errors.Is(err, aws.ErrNotFound) {
		if err := r.Clone(ctx, source.ID, a.Name, c.Token, until); err != nil {
			return nil, err
		}
		made, err = r.Aurora(ctx, a.Name)
	}
	if err != nil {
		return nil, err
	}
	return a.api.member(ctx, r, made, aws.NewInstance{ID: a.instance(), Class: a.Class, Tags: aws.CloneTags(source.ID, a.Name, c.Token, until)}, c)
}

// Undo deletes the clone if this run made it, and nobody added an instance to it.
func (a *clone) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	made, err := r.Aurora(ctx, a.Name)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		return nil
	case err != nil:
		return err
	case made.Tags[aws.TokenTag] != c.Token:
		return &hint.PermanentError{Reason: fmt.Sprintf("cluster %s was not created by this run, so it is not deleted", a.Name)}
	}
	return a.api.deleteClone(ctx, r, made, c)
}

func (a *clone) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	if _, err := r.Instance(ctx, a.instance()); errors.Is(err, aws.ErrNotFound) {
		return nil
	}
	return a.api.await(ctx, r, a.instance(), c, func(aws.Instance) string { return "" })
}
