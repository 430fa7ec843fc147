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
	s, err := find(ctx, on)
	if err != nil {
		return err
	}
	waits, err := s.unfinished(ctx, on, done)
	if err == nil && waits != "" {
		err = fmt.Errorf("%s waits for %s", s, waits)
	}
	return err
}

// changedMeanwhile is the end of waiting for a field that somebody else has changed.
func changedMeanwhile(s site, field kube.Path, want any) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("somebody else changed %s of %s to %v; this run set it to %v", field, s, s.Get(field), want),
		Advice: "agree with them on the value, then plimsoll runbook resume RUN",
	}
}

// judge refuses a change of an object as it is now; nil judges nothing.
type judge func(s site) error

// stillOurs judges an undo: the object must be the one that was changed, and what was changed must be as it was asked for, or as it was
// before. What somebody else has asked for since stays.
func stillOurs(before action.Facts, field string, is func(s site) any, asked, was any) judge {
	return func(s site) error {
		if uid, _ := before["uid"].(string); uid != "" && uid != s.UID() {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s was deleted and created anew since", s), Advice: "leave it as it is: plimsoll runbook cancel RUN --leave REASON"}
		}
		if now := is(s); now != asked && now != was {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("somebody else changed %s of %s to %v since; this run asked for %v, and it was %v before", field, s, now, asked, was),
				Advice: "leave it as it is: plimsoll runbook cancel RUN --leave REASON",
			}
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
