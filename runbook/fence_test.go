package runbook

import (
	"context"
	"strings"
	"sync"
	"testing"

	"plimsoll/runbook/action"
)

// board is a marker in memory that two stores share.
type board struct {
	mu  sync.Mutex
	has action.Claim
}

func (b *board) Claim(_ context.Context, c action.Claim) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.has.Run != "" && b.has.Run != c.Run {
		return &action.ClaimedError{Cluster: c.Cluster, Run: b.has.Run, Holder: b.has.Holder}
	}
	b.has = c
	return nil
}

func (b *board) Clear(_ context.Context, c action.Claim) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.has.Run == c.Run {
		b.has = action.Claim{}
	}
	return nil
}

func TestARunWhoseClusterWasTakenActsNoMore(t *testing.T) {
	b := newBench(t)
	shared := &board{}
	b.Marker = func(*action.Site) Marker { return shared }
	run := b.begin(Request{Book: b.parse(asking)})
	e, err := b.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context(), e, run, Order{Do: "run"}); err != nil {
		t.Fatal(err)
	}
	b.until(run, func(st *State) bool { return st.Status() == "asking" })
	shared.mu.Lock()
	shared.has = action.Claim{Cluster: "lab1", Run: "theirs", Holder: "another laptop"}
	shared.mu.Unlock()
	for _, who := range []string{"bob", "cid"} {
		b.User = who
		if err := b.Tell(t.Context(), run, Word{Say: "approve", Step: "go", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.read("b") != "" || len(b.events(run, Intended)) != 1 {
		t.Error("it acted on a cluster that was taken")
	}
	if parked := b.events(run, Parked); len(parked) != 1 || !strings.Contains(parked[0].Reason, "another run") {
		t.Errorf("parked %+v", parked)
	}
	// Its next stint finds the cluster taken and does not begin.
	e, err = b.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context(), e, run, Order{Do: "resume"}); err != nil {
		t.Fatal(err)
	}
	if err := e.Wait(t.Context(), run); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("the next stint ended with %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := b.stintOf(run, Order{Do: "cancel", Reason: "it is theirs"}); st.Outcome != Cancelled {
		t.Errorf("it cannot be given up: %q", st.Outcome)
	}
	if shared.has.Run != "theirs" {
		t.Errorf("giving up took the claim of %q", shared.has.Run)
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || lease.Holder != "" {
		t.Errorf("the lock is held by %q, %v", lease.Holder, err)
	}
}
