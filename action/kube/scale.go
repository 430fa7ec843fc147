package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

func scaleAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.scale", Version: 1, About: "Changes how many members an operator's cluster has, and waits until the operator, the pods and the database show them.",
		New: func() action.Task { return &scale{every: every} },
	}
}

type scale struct {
	Members int    `yaml:"members,required" doc:"The new number of members."`
	Rack    string `yaml:"rack" doc:"For scylla-operator: the rack to change. Default: the members of all racks together, the same number in each."`

	every time.Duration
}

var (
	_ action.Undoer           = (*scale)(nil)
	_ action.Verifier         = (*scale)(nil)
	_ action.InFlightWaiter   = (*scale)(nil)
	_ action.ApprovalDemander = (*scale)(nil)
)

func (a *scale) Validate() error {
	if a.Members < 1 {
		return errors.New("members must be at least 1")
	}
	return nil
}

func (a *scale) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *scale) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	fields, err := a.fields(r)
	if err != nil {
		return action.CheckResult{}, err
	}
	has := sum(r, fields)
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "uid": r.UID(), "members": has}, Intended: action.Facts{"object": r.String(), "members": a.Members},
	}
	waits, err := r.waits(ctx, on)
	switch {
	case err != nil:
		return f, err
	case has == int64(a.Members) && waits == "":
		f.State = action.Satisfied
		return f, nil
	case has == int64(a.Members): // asked for already
		f.Reason = "the operator is still waiting for " + waits
		return f, r.free()
	}
	edits, err := a.edits(r, int64(a.Members))
	if err == nil && waits != "" {
		unsettled(&f, r, waits)
		return f, nil
	}
	if err == nil {
		err = r.api.Try(ctx, r.kind, r.Object, edits...)
	}
	return f, err
}

// fields are those that say how many there are, of the rack or of all.
func (a *scale) fields(r resource) ([]sizeField, error) {
	all := r.operator.size(r.Object)
	if len(all) == 0 {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s has no racks, so there is nothing to scale", r), Advice: "write its first rack into the object"}
	}
	if a.Rack == "" {
		return all, nil
	}
	var racks []string
	for _, f := range all {
		if f.rack == a.Rack {
			return []sizeField{f}, nil
		}
		racks = append(racks, f.rack)
	}
	if len(all) == 1 && all[0].rack == "" {
		return nil, &hint.PermanentError{Reason: r.operator.name + " deals members out to racks itself", Advice: "name no rack"}
	}
	return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s has no rack %s", r, a.Rack), Advice: "its racks are " + strings.Join(racks, ", ")}
}

func sum(r resource, fields []sizeField) (n int64) {
	for _, f := range fields {
		in, _ := r.Int(f.path)
		n += in
	}
	return n
}

// edits are those that make it so many; none if it is.
func (a *scale) edits(r resource, to int64) ([]kube.Edit, error) {
	fields, err := a.fields(r)
	if err != nil {
		return nil, err
	}
	has := sum(r, fields)
	each := to / int64(len(fields))
	var edits []kube.Edit
	for _, f := range fields {
		if err := r.free(f.path); err != nil {
			return nil, err
		}
		if in, _ := r.Int(f.path); has != to && (to%int64(len(fields)) != 0 || in*int64(len(fields)) != has) {
			return nil, &hint.PermanentError{
				Reason: fmt.Sprintf("%s has %d members in %d racks, and %d are to be: they are not the same in each rack", r, has, len(fields), to),
				Advice: "change one rack after the other, with the input rack",
			}
		}
		edits = append(edits, kube.Edit{Path: f.path, Value: each})
	}
	if has == to {
		return nil, nil
	}
	if r.operator.fits != nil {
		if err := r.operator.fits(r, to); err != nil {
			return nil, err
		}
	}
	return edits, nil
}

// ApprovalReason tells what members that go take with them.
func (a *scale) ApprovalReason(f action.CheckResult) string {
	if has, ok := f.Observed["members"].(int64); ok && has > int64(a.Members) {
		return fmt.Sprintf("%d of %d members are removed; the operator may delete their volumes", has-int64(a.Members), has)
	}
	return ""
}

func (a *scale) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, int64(a.Members), nil)
}

func (a *scale) become(ctx context.Context, on *cluster.Cluster, c action.Call, to int64, may judge) error {
	r, err := find(ctx, on)
	if err != nil {
		return err
	}
	if err := r.write(ctx, may, func(r resource) ([]kube.Edit, error) { return a.edits(r, to) }); err != nil {
		return err
	}
	return r.await(ctx, on, a.every, c, a.has(to))
}

// has looks whether the size that is asked for is still the one: somebody else may have asked for another.
func (a *scale) has(want int64) look {
	return func(_ context.Context, r resource) (string, error) {
		fields, err := a.fields(r)
		if err == nil && sum(r, fields) != want {
			err = changedMeanwhile(r, fields[0].path, want)
		}
		return "", err
	}
}

func (a *scale) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	return verify(ctx, on, a.has(int64(a.Members)))
}

func (a *scale) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := number(c.Before["members"])
	if !ok {
		return errors.New("the previous number of members was not recorded")
	}
	size := func(r resource) any {
		fields, err := a.fields(r)
		if err != nil {
			return nil
		}
		return sum(r, fields)
	}
	return a.become(ctx, on, c, before, stillOurs(c.Before, "the number of members", size, int64(a.Members), before))
}

func (a *scale) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
