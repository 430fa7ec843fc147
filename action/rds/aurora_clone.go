package rds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraClone(at api) action.Action {
	return action.Action{
		Name: "aurora.clone", Version: 3,
		About: "Makes a fast clone of an Aurora cluster, with one instance and readers, for a rehearsal. It shares its pages with the original until either changes them; its tag says until when it is needed, and aurora.delete-expired-clones deletes it after that.",
		New:   func() action.Task { return &clone{api: at, For: 6 * time.Hour} },
	}
}

type clone struct {
	Name    string        `yaml:"name,required" doc:"The name of the clone; its instances get the same name with -1, -2 and so on at the end."`
	Class   string        `yaml:"class,required" doc:"Class of its instances, such as db.r6g.large."`
	Readers int           `yaml:"readers" doc:"How many readers it has beside its writer, at most 15. Default 0."`
	For     time.Duration `yaml:"for" doc:"How long it is needed, recorded in its tag plimsoll:delete-after. Default 6h."`

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
	if a.Readers < 0 || a.Readers > 15 {
		return errors.New("readers must be between 0 and 15")
	}
	return nil
}

func (a *clone) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// instances are those of the clone, the writer first.
func (a *clone) instances() (all []string) {
	for n := range 1 + a.Readers {
		all = append(all, fmt.Sprintf("%s-%d", a.Name, n+1))
	}
	return all
}

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
	address := ""
	for _, id := range a.instances() {
		i, err := r.Instance(ctx, id)
		switch {
		case errors.Is(err, aws.ErrNotFound):
			f.Reason = "it has no instance " + id + " yet"
			return f, nil
		case err != nil || !i.Settled():
			return f, err
		}
		address = cmp.Or(address, i.Endpoint)
	}
	copied, err := a.hasClaimOf(ctx, on, address)
	if err != nil {
		return f, err
	}
	if copied != "" {
		f.Reason = "it still has the claim of run " + copied + ", copied from " + source.ID
		return f, nil
	}
	f.State = action.Satisfied
	return f, nil
}

// hasClaimOf is the run whose claim both the cluster and the clone have: it was copied with the data, and the run that made the clone ended, or was
// killed, before it released it there; "" if there is none.
func (a *clone) hasClaimOf(ctx context.Context, on *cluster.Cluster, address string) (run string, err error) {
	err = a.inClone(ctx, on, address, func(original, clone engine.Database) error {
		of, err := a.api.claims.Holder(ctx, original)
		if err != nil || of == "" {
			return err
		}
		has, err := a.api.claims.Holder(ctx, clone)
		if has == of {
			run = of
		}
		return err
	})
	return run, err
}

// inClone calls a function with the databases of the cluster and of its clone; not where both are the same.
func (a *clone) inClone(ctx context.Context, on *cluster.Cluster, address string, do func(original, clone engine.Database) error) error {
	primary, err := on.Primary(ctx)
	if err != nil {
		return err
	}
	target := primary.Target
	if slices.Contains(target.Addresses, address) {
		return nil // the claim there is the one that this run has
	}
	original, err := on.Database(ctx, primary.Name)
	if err != nil {
		return err
	}
	target.Addresses = []string{address}
	clone, err := on.Engine.Open(ctx, target)
	if err != nil {
		return fmt.Errorf("log in to the clone at %s: %w", address, err)
	}
	return errors.Join(do(original, clone), clone.Close())
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
	var writer action.Facts
	for _, id := range a.instances() {
		is, err := a.api.member(ctx, r, made, aws.NewInstance{ID: id, Class: a.Class, Tags: aws.CloneTags(source.ID, a.Name, c.Token, until)}, c)
		if err != nil {
			return nil, err
		}
		if writer == nil {
			writer = is
		}
	}
	// The clone has a copy of this run's claim, which nobody would prolong or release there.
	return writer, a.inClone(ctx, on, fmt.Sprint(writer["address"]), func(_, clone engine.Database) error { return a.api.claims.Forget(ctx, clone, c.Run) })
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
	for _, id := range a.instances() {
		if _, err := r.Instance(ctx, id); errors.Is(err, aws.ErrNotFound) {
			return nil
		}
		if err := a.api.await(ctx, r, id, c, func(aws.Instance) string { return "" }); err != nil {
			return err
		}
	}
	return nil
}
