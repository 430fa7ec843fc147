package kube

import (
	"context"
	"fmt"

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
