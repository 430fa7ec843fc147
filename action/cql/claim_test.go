package cql_test

import (
	"errors"
	"time"

	"plimsoll/action"
	"plimsoll/action/cql"
)

// claims tries the ClusterLock on the real ring.
func (w world) claims() {
	w.Helper()
	ctx, m := w.Context(), cql.ClusterLock{Site: w.site}
	first := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	other := action.Claim{Cluster: "c", Run: "r2", Holder: "there's", Epoch: 1, For: time.Minute, Break: true}
	for range 2 { // taken, prolonged
		if err := m.Claim(ctx, first); err != nil {
			w.Fatal(err)
		}
	}
	var claimed *action.ClaimedError
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r1" || claimed.Expired || time.Since(claimed.Since) > time.Hour {
		w.Errorf("a second run, although the first's claim holds: %v", err)
	}
	later := first
	later.Epoch, later.For = 2, time.Second
	if err := m.Claim(ctx, later); err != nil {
		w.Fatal(err)
	}
	if err := m.Claim(ctx, first); !errors.As(err, &claimed) {
		w.Errorf("at an older epoch: %v", err)
	}
	other.Break = false
	w.until("the claim runs out", func() bool {
		return errors.As(m.Claim(ctx, other), &claimed) && claimed.Expired
	})
	other.Break = true
	if err := m.Claim(ctx, other); err != nil {
		w.Errorf("one that has run out is not taken: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, later), m.Clear(ctx, other)); err != nil {
		w.Fatal(err)
	}
	if err := m.Claim(ctx, first); err != nil {
		w.Errorf("after it was given back: %v", err)
	}
	before, after := first, first
	before.Epoch, after.Epoch = 0, 3
	other.Break = false
	if err := m.Clear(ctx, before); err != nil || !errors.As(m.Claim(ctx, other), &claimed) {
		w.Errorf("who was fenced gave it back: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, after), m.Claim(ctx, other)); err != nil {
		w.Errorf("given back by a session that could not prolong it: %v", err)
	}
	if err := m.Clear(ctx, other); err != nil {
		w.Fatal(err)
	}
}
