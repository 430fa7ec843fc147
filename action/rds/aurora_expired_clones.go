package rds

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraDeleteExpiredClones(at api) action.Action {
	return action.Action{
		Name: "aurora.delete-expired-clones", Version: 1,
		About: "Deletes every clone of the account and region that any Plimsoll created and whose deadline has passed. One that cannot be deleted, such as one with deletion protection or with an instance that somebody added, is left and named.",
		New:   func() action.Task { return &deleteExpired{api: at} },
	}
}

// deleteExpired finds clones by their tags, so that one whose maker died is found too.
type deleteExpired struct{ api api }

var (
	_ action.Verifier       = (*deleteExpired)(nil)
	_ action.InFlightWaiter = (*deleteExpired)(nil)
)

func (a *deleteExpired) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// expired are the clones that nobody needs any more.
func expired(ctx context.Context, r *aws.RDS) (all []aws.Aurora, err error) {
	all, err = r.Clones(ctx)
	now := time.Now()
	return slices.DeleteFunc(all, func(c aws.Aurora) bool { return !c.Expired(now) }), err
}

func (a *deleteExpired) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Satisfied, Observed: action.Facts{"expired": none}, Intended: action.Facts{"expired": none}}
	all, err := expired(ctx, r)
	if err != nil || len(all) == 0 {
		return f, err
	}
	var found []string
	for _, c := range all {
		found = append(found, c.ID+" of "+c.Source()+", needed until "+c.Tags[aws.DeleteAfterTag])
	}
	f.State, f.Observed["expired"] = action.Needed, strings.Join(found, "; ")
	return f, nil
}

func (a *deleteExpired) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return nil, err
	}
	all, err := expired(ctx, r)
	if err != nil {
		return nil, err
	}
	var deleted []string
	left := map[string]any{}
	for _, clone := range all {
		now, err := r.Aurora(ctx, clone.ID) // somebody may need it longer since
		if errors.Is(err, aws.ErrNotFound) || err == nil && !now.Expired(time.Now()) {
			continue
		}
		if err == nil {
			err = a.api.deleteClone(ctx, r, now, c)
		}
		var refusal *hint.PermanentError
		var stuck *aws.StuckError
		switch {
		case err == nil:
			deleted = append(deleted, clone.ID)
		case errors.As(err, &refusal), errors.As(err, &stuck), aws.IsDenied(err):
			left[clone.ID] = err.Error()
		default:
			return nil, err
		}
	}
	out := action.Facts{"deleted": deleted}
	if len(left) > 0 {
		out[action.LeftOut] = left
	}
	return out, nil
}

// Verify looks that none is there any more but those that were left out.
func (a *deleteExpired) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	all, err := expired(ctx, r)
	left, _ := output[action.LeftOut].(map[string]any)
	for _, c := range all {
		if _, known := left[c.ID]; !known {
			return &hint.PermanentError{Reason: "clone " + c.ID + " still exists, needed until " + c.Tags[aws.DeleteAfterTag]}
		}
	}
	return err
}

// AwaitInFlight has nothing to wait for: deleting goes on, and is asked for again where it did not begin.
func (a *deleteExpired) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error {
	return nil
}
