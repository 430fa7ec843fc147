package execute

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// A run that was parked while another broke its lock, did its work and gave the cluster back, goes on no more: what it planned is of
// another cluster. In its own store the lease tells, from elsewhere the claim in the cluster.
func TestARunWhoseClusterWasEverTakenParks(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"the same store", "another store"} {
		b := newBench(t)
		shared := &runbooktest.MemoryLock{}
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
		run := b.begin(Request{Book: b.parse(mending)})
		if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed {
			t.Fatal(st.Outcome)
		}
		b.put("mended", "")
		if where == "the same store" {
			if err := b.Store.Release(t.Context(), lock.LeaseName("lab1"), run); err != nil {
				t.Fatal(err)
			}
		} else {
			theirs := action.Claim{Cluster: "lab1", Run: "theirs", Epoch: 7, For: time.Minute, Break: true}
			shared.Dead = true
			if err := shared.Claim(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			shared.At = shared.At.Add(time.Minute) // when the claim of the first had run out
			if err := shared.Clear(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
		}
		for _, do := range []journal.Command{{Do: "resume"}, {Do: "cancel", Undo: true}} {
			if err := b.tries(run, do); err == nil || !strings.Contains(err.Error(), "another run held cluster lab1 in the meantime, and has released it") {
				t.Errorf("%s, %s: %v", where, do.Do, err)
			}
			if how := b.stateOf(run).ContinueHint(run); strings.Contains(how, "resume") || !strings.Contains(how, "plimsoll runbook cancel "+run+" --leave REASON") {
				t.Errorf("%s, %s: it goes on so: %s", where, do.Do, how)
			}
		}
		if st := b.stateOf(run); st.Status() != "failed" && st.Status() != "parked" || len(b.events(run, journal.Undone)) > 0 || b.read("a") != "" {
			t.Errorf("%s: %s", where, st.Status())
		}
		// What the refusal advises: it is given up, and a new run is planned.
		if st := b.runSession(run, journal.Command{Do: "cancel", Leave: "theirs"}); st.Outcome != journal.RunCancelled {
			t.Errorf("%s: it cannot be given up: %q", where, st.Outcome)
		}
		again := b.begin(Request{Book: b.parse(mending)})
		if st := b.runSession(again, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
			t.Errorf("%s: a new run: %q", where, st.Outcome)
		}
	}
}

// A run that ended, and whose process died before it gave its cluster back, holds nobody up: not the next run, and its own name can
// be told to give back.
func TestAnEndedRunHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"the next run", "give back", "the next that executes"} {
		b := newBench(t)
		shared := &runbooktest.MemoryLock{}
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
		run := b.begin(Request{Book: b.parse(threeSteps)})
		b.endsUnreleased(t, run, shared)
		if how == "the next that executes" {
			if _, err := b.Store.Acquire(t.Context(), lock.LeaseName("lab1"), run, -time.Second); err != nil { // it ran out
				t.Fatal(err)
			}
			e, err := b.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1"))
			if err != nil || lease.Holder != "" || shared.Has.Run != "" {
				t.Errorf("leased to %q, claimed by %q, %v", lease.Holder, shared.Has.Run, err)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if how == "give back" {
			shared.Mute = true
			if gave, err := b.GiveBack(t.Context(), run); gave || !errors.Is(err, lock.ErrClaimStays) {
				t.Errorf("the cluster does not answer: gave back %v, %v", gave, err)
			}
			shared.Mute = false
			if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil || shared.Has.Run != "" {
				t.Errorf("gave back %v, %v, claimed by %q", gave, err, shared.Has.Run)
			}
			if gave, err := b.GiveBack(t.Context(), run); gave || err != nil {
				t.Errorf("gave back again: %v, %v", gave, err)
			}
		}
		again := b.begin(Request{Book: b.parse(threeSteps)})
		if shared.Has.Run != again {
			t.Errorf("%s: claimed by %q, not by %q", how, shared.Has.Run, again)
		}
	}
}

const writing = `
runbook: test/writing
steps:
  - {id: a, uses: command, with: {run: "echo done > DIR/a", check: "test -e DIR/a"}}
`

// An owner that sleeps between the beginning of its run and its first entry holds the cluster all the same: when another had it meanwhile, the
// first session parks, and nothing is done.
func TestARunWhoseClusterWasTakenBeforeItsFirstEntryParks(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"the same store", "another store"} {
		b := newBench(t)
		shared := &runbooktest.MemoryLock{}
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
		run := b.begin(Request{Book: b.parse(writing)})
		if where == "the same store" {
			if err := b.Store.Release(t.Context(), lock.LeaseName("lab1"), run); err != nil {
				t.Fatal(err)
			}
		} else {
			theirs := action.Claim{Cluster: "lab1", Run: "theirs", Epoch: 7, For: time.Minute, Break: true}
			shared.Dead = true
			if err := shared.Claim(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
			shared.At = shared.At.Add(time.Minute) // when the claim of the first had run out
			if err := shared.Clear(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.tries(run, journal.Command{Do: "run"}); err == nil || !strings.Contains(err.Error(), "another run held cluster lab1 in the meantime") {
			t.Errorf("%s: %v", where, err)
		}
		if st := b.stateOf(run); st.Status() != "parked" || b.read("a") != "" {
			t.Errorf("%s: it is %s, and acted: %v", where, st.Status(), b.read("a") != "")
		}
	}
}

// A cluster that did not answer when the run was begun was not its own yet, and is claimed by its first session.
func TestAClusterThatDidNotAnswerAtTheBeginningIsClaimedByTheFirstSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{Unclear: true}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(writing)})
	shared.Unclear = false
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || b.read("a") == "" {
		t.Errorf("it ended %q", st.Outcome)
	}
}

// Between the plan that a person reads and the yes, anything may change: the run is not begun, and the cluster is free again.
func TestAPlanThatChangedBeforeTheRunIsNotBegun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(writing), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	b.put("a", "")
	var changed *ChangedPlanError
	if _, err := b.Begin(t.Context(), p); !errors.As(err, &changed) || changed.Read != p.Header.Plan.Hash {
		t.Errorf("begin: %v", err)
	}
	runs, err := b.Store.Runs(t.Context())
	if err != nil || len(runs) != 0 {
		t.Errorf("runs: %v, %v", runs, err)
	}
	if lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1")); err != nil || lease.Holder != "" {
		t.Errorf("the cluster is held by %q, %v", lease.Holder, err)
	}
	b.begin(Request{Book: b.parse(writing)})
}
