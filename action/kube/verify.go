package kube

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// verify looks once whether a change is done and the cluster whole.
func verify(ctx context.Context, on *cluster.Cluster, done look) error {
	r, err := find(ctx, on)
	if err != nil {
		return err
	}
	waits, err := r.unfinished(ctx, on, done)
	if err == nil && waits != "" {
		err = fmt.Errorf("%s waits for %s", r, waits)
	}
	return err
}

// changedMeanwhile is the end of waiting for a field that somebody else has changed.
func changedMeanwhile(r resource, field kube.Path, want any) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("somebody else changed %s of %s to %v; this run set it to %v", field, r, r.Get(field), want),
		Advice: "agree with them on the value, then plimsoll runbook resume RUN",
	}
}

// judge refuses a change of an object as it is now; nil judges nothing.
type judge func(r resource) error

// stillOurs judges an undo: the object must be the one that was changed, and what was changed must be as it was asked for, or as it was
// before. What somebody else has asked for since stays.
func stillOurs(before action.Facts, field string, is func(r resource) any, asked, was any) judge {
	return func(r resource) error {
		if uid, _ := before["uid"].(string); uid != "" && uid != r.UID() {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s was deleted and created anew since", r), Advice: "leave it as it is: plimsoll runbook cancel RUN --leave REASON"}
		}
		if now := is(r); now != asked && now != was {
			return action.ChangedSince(fmt.Sprintf("%s of %s", field, r), fmt.Sprint(now), fmt.Sprint(asked), fmt.Sprint(was))
		}
		return nil
	}
}

// number is a fact that is a whole number, as it was observed or read from a journal.
func number(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	}
	return 0, false
}
