package rds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraAddReader(at api) action.Action {
	return action.Action{
		Name: "aurora.add-reader", Version: 2,
		About: "Creates a reader in an Aurora cluster and waits until it answers. While its cache is cold it is in none of the cluster's custom endpoints and takes over last; aurora.serve adds it to them.",
		New:   func() action.Task { return &reader{onInstance: onInstance{api: at}} },
	}
}

// reader is created cold. What can be kept from it are the clients of custom endpoints, and the place of the writer; the cluster's own
// reader endpoint leads to every reader that is available, and nothing of AWS's keeps one out.
type reader struct {
	onInstance
	Class string `yaml:"class,required" doc:"The class, such as db.r6g.large."`
}

var (
	_ action.Undoer           = (*reader)(nil)
	_ action.Verifier         = (*reader)(nil)
	_ action.InFlightWaiter   = (*reader)(nil)
	_ action.ApprovalDemander = (*reader)(nil)
)

func (a *reader) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *reader) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, c, err := a.api.aurora(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	id, err := a.id(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	endpoints, err := r.Endpoints(ctx, c.ID)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"cluster": c.ID, "reader": "none", "custom_endpoints": names(endpoints)}, Intended: action.Facts{"cluster": c.ID, "reader": id},
		Reason: "the reader endpoint leads to it as soon as it is available, and cold; custom endpoints do not",
	}
	i, err := r.Instance(ctx, id)
	switch {
	case errors.Is(err, aws.ErrNotFound):
		return f, nil
	case err != nil:
		return f, err
	case i.Cluster != c.ID:
		return f, &hint.PermanentError{Reason: fmt.Sprintf("there is an instance %s already, and it is not of cluster %s", id, c.ID), Advice: "choose another name"}
	}
	f.Observed["reader"] = i.ID
	if i.Settled() && slices.Contains(c.Members, i.ID) {
		f.State, f.Reason = action.Satisfied, ""
	} else {
		f.Reason = "it is " + i.Status
	}
	return f, i.Usable()
}

// ApprovalReason says so where nobody can be kept from a cold reader.
func (a *reader) ApprovalReason(f action.CheckResult) string {
	if f.Observed["custom_endpoints"] != none {
		return ""
	}
	return "cluster " + fmt.Sprint(f.Observed["cluster"]) + " has no custom endpoint: its reader endpoint leads applications to the new reader as soon as it is available, before it is warm"
}

func (a *reader) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, of, err := a.api.aurora(ctx, on)
	if err != nil {
		return nil, err
	}
	id, err := a.id(ctx, on)
	if err != nil {
		return nil, err
	}
	if _, err := r.Instance(ctx, id); errors.Is(err, aws.ErrNotFound) {
		n := aws.NewInstance{ID: id, Class: a.Class, Tags: map[string]string{aws.TokenTag: c.Token}, Tier: aws.LastTier}
		if err := r.CreateMember(ctx, of.ID, of.Engine, n); err != nil {
			return nil, err
		}
	}
	if err := a.comes(ctx, r, id, c); err != nil {
		return nil, err
	}
	i, err := r.Instance(ctx, id)
	return action.Facts{"instance": i.ID, "address": i.Endpoint}, err
}

// comes waits until the reader is available. A new instance enters the endpoints without a list of members by itself then, minutes from
// now: it is taken out of them before. Where AWS refuses that because the instance is too young, the next look asks again.
func (a *reader) comes(ctx context.Context, r *aws.RDS, id string, c action.Call) error {
	return a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, id)
		if err == nil {
			err = i.Usable()
		}
		if err == nil && i.Tags[aws.TokenTag] == c.Token && i.Tier == aws.LastTier { // one that serves already goes on to
			err = admit(ctx, r, i.Cluster, id, false)
		}
		return i.Settled(), fmt.Sprintf("instance %s, which is %s", id, i.Status), err
	})
}

// admit takes an instance out of all custom endpoints of its cluster, or into those that have no list of their members.
func admit(ctx context.Context, r *aws.RDS, cluster, id string, in bool) error {
	endpoints, err := r.Endpoints(ctx, cluster)
	for _, e := range endpoints {
		if !in || !e.Fixed() {
			err = errors.Join(err, r.Admit(ctx, e, id, in))
		}
	}
	return err
}

// Verify asks the server at the node's address, which is to be warmed, whether it is that instance.
func (a *reader) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	id, err := a.id(ctx, on)
	if err != nil {
		return err
	}
	if err := answers(ctx, on, a.Node); err != nil {
		return hint.With(err, "give node "+a.Node+" the address of instance "+id+" in plimsoll.yaml, then plimsoll runbook resume RUN")
	}
	var shown string
	err = on.Use(ctx, a.Node, func(s engine.Session) error {
		r := engine.Result{Keep: true}
		err := s.Exec(ctx, "SHOW GLOBAL VARIABLES LIKE 'aurora_server_id'", &r)
		if err == nil && r.Rows == 1 {
			shown = string(r.At(0, 1).Data)
		}
		return err
	})
	if err == nil {
		err = is(id, shown)
	}
	return err
}

// is holds the instance that a server says it is against the one that is meant; "" is a server that does not say.
func is(id, shown string) error {
	if shown == "" || strings.EqualFold(shown, id) {
		return nil
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("the address in plimsoll.yaml leads to instance %s, not to %s", shown, id),
		Advice: "write the address of instance " + id + ", not that of an endpoint of the cluster",
	}
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

// Undo deletes the reader if this run made it, and it is one still, and then forgets it in the lists of endpoints.
func (a *reader) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, of, err := a.api.aurora(ctx, on)
	if err != nil {
		return err
	}
	id, err := a.id(ctx, on)
	if err != nil {
		return err
	}
	if err := a.api.remove(ctx, r, id, c, stillReader(ctx, r)); err != nil {
		return err
	}
	return admit(ctx, r, of.ID, id, true)
}

// stillReader lets an instance go that is not the writer of its cluster.
func stillReader(ctx context.Context, r *aws.RDS) func(aws.Instance) error {
	return func(i aws.Instance) error {
		of, err := r.Aurora(ctx, i.Cluster)
		if err != nil || of.Writer != i.ID {
			return err
		}
		return &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s is the writer of cluster %s now, and is not deleted", i.ID, of.ID),
			Advice: "keep it; to delete it, first make another instance the writer, with aurora/failover",
		}
	}
}

func (a *reader) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	id, err := a.id(ctx, on)
	if err != nil {
		return err
	}
	if _, err := r.Instance(ctx, id); errors.Is(err, aws.ErrNotFound) {
		return nil
	}
	return a.comes(ctx, r, id, c)
}
