package execute

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// unclaimable begins a run while its cluster does not answer.
func unclaimable(t *testing.T, text string) (b *bench, shared *runbooktest.MemoryLock, run string) {
	t.Helper()
	b, shared = newBench(t), &runbooktest.MemoryLock{Unclear: true}
	b.TTL = 600 * time.Millisecond
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	return b, shared, b.begin(Request{Book: b.parse(text)})
}

func set(shared *runbooktest.MemoryLock, change func()) {
	shared.Mu.Lock()
	defer shared.Mu.Unlock()
	change()
}

// A failover must run while its cluster does not answer. That no other state folder sees the run is told, and the claim is stored as soon as the
// cluster answers, though the run has nothing to do.
func TestAClaimThatCouldNotBeStoredIsToldAndStoredLater(t *testing.T) {
	t.Parallel()
	b, shared, run := unclaimable(t, asking)
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
	st := b.stateOf(run)
	if !strings.Contains(st.Unclaimed["lab1"], "it does not answer") || b.read("a") != "" {
		t.Errorf("it acted: %v, and is unclaimed: %q", len(b.events(run, journal.Acted)), st.Unclaimed)
	}
	opened := b.events(run, journal.Opened)
	if text := opened[0].Text(); !strings.Contains(text, "cluster lab1 does not answer, so the lock of this run is not stored in it yet") {
		t.Errorf("told: %q", text)
	}
	set(shared, func() { shared.Unclear = false })
	b.until(run, func(st *journal.State) bool { return len(st.Unclaimed) == 0 })
	set(shared, func() {
		if shared.Has.Run != run {
			t.Errorf("claimed by %q", shared.Has.Run)
		}
	})
	said := b.events(run, journal.Said)
	if len(said) != 1 || !said[0].Claimed || said[0].Cluster != "lab1" || !strings.Contains(said[0].Text(), "lab1 answers") {
		t.Errorf("said %+v", said)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A run that goes on in another process does not pass for claimed because it has held its cluster in the store.
func TestARunThatWasNeverClaimedIsNotWhenItGoesOn(t *testing.T) {
	t.Parallel()
	b, shared, run := unclaimable(t, mending)
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed || st.Unclaimed["lab1"] == "" {
		t.Fatalf("%q, unclaimed %q", st.Outcome, st.Unclaimed)
	}
	if err := b.tries(run, journal.Command{Do: "resume"}); err != nil || b.stateOf(run).Unclaimed["lab1"] == "" {
		t.Errorf("%v, unclaimed %q", err, b.stateOf(run).Unclaimed)
	}
	set(shared, func() {
		shared.Unclear, shared.Refuses = false, &engine.Error{Kind: engine.Full, Text: "The table 'claim' is full"}
	})
	if err := b.tries(run, journal.Command{Do: "resume"}); err == nil || !strings.Contains(err.Error(), "The table 'claim' is full") {
		t.Errorf("the cluster answers that it takes no claim: %v", err)
	}
	b.put("mended", "")
	set(shared, func() { shared.Refuses = nil })
	if st := b.runSession(run, journal.Command{Do: "resume"}); st.Outcome != journal.RunDone || len(st.Unclaimed) > 0 || shared.Has.Run != "" {
		t.Errorf("%q, unclaimed %q, the claim is of %q", st.Outcome, st.Unclaimed, shared.Has.Run)
	}
}

// A cluster that once had the claim, and takes nothing now, does not stop a run in its middle; but it is told, once.
func TestAStoredClaimThatCannotBeProlongedStopsNothing(t *testing.T) {
	t.Parallel()
	b, shared := newBench(t), &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(writing)})
	shared.Refuses = &engine.Error{Kind: engine.Full, Text: "full"}
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || st.Unclaimed != nil {
		t.Errorf("%q, unclaimed %q", st.Outcome, st.Unclaimed)
	}
	said := b.events(run, journal.Said)
	if len(said) == 0 || said[0].Cluster != "lab1" || !strings.Contains(said[0].Text(), "cluster lab1 no longer prolongs the claim of this run") ||
		!strings.Contains(said[0].Text(), "full") {
		t.Fatalf("said %+v", said)
	}
	for _, e := range said[1:] {
		if strings.Contains(e.Text(), "no longer prolongs") {
			t.Errorf("told again: %s", e.Text())
		}
	}
}

// One that does not answer may be restarting, and is no reason to say anything.
func TestAClusterThatDoesNotAnswerIsNotSaidToRefuseItsClaim(t *testing.T) {
	t.Parallel()
	b, shared := newBench(t), &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(writing)})
	shared.Refuses = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "nothing listens"}
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Errorf("%q", st.Outcome)
	}
	for _, e := range b.events(run, journal.Said) {
		if strings.Contains(e.Text(), "no longer prolongs") {
			t.Errorf("told: %s", e.Text())
		}
	}
}

func TestARunWhoseClaimTheClusterDoesNotTakeDoesNotBegin(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]error{
		"denied":        &engine.Error{Kind: engine.Denied, Code: "1142", Text: "INSERT command denied to user 'ops'"},
		"hung up":       &engine.Error{Kind: engine.Denied, Lost: true, Code: "1045", Text: "Access denied"},
		"full":          &engine.Error{Kind: engine.Full, Code: "1114", Text: "The table 'claim' is full"},
		"read-only":     &engine.Error{Kind: engine.ReadOnly, Code: "1290", Text: "running with the --read-only option"},
		"syntax":        &engine.Error{Kind: engine.Other, Code: "1064", Text: "You have an error in your SQL syntax"},
		"another table": &engine.Error{Kind: engine.Missing, Code: "1054", Text: "Unknown column 'since'"},
		"no database":   errors.New("node n1 has no known database"),
	} {
		b := newBench(t)
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock {
			return &runbooktest.MemoryLock{Refuses: fmt.Errorf("node n1: %w", refuses)}
		}
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
		if err != nil {
			t.Fatal(err)
		}
		var refusal *hint.PermanentError
		if _, err := b.Begin(t.Context(), p); !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "lab1") ||
			!strings.Contains(refusal.Reason, refuses.Error()) || !strings.Contains(refusal.Advice, "plimsoll.claim") {
			t.Errorf("%s: it began where others cannot see it: %v", name, err)
		}
		lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1"))
		if runs, listing := b.Store.Runs(t.Context()); err != nil || lease.Holder != "" || listing != nil || len(runs) != 0 {
			t.Errorf("%s: the refused run keeps the lease: %q, %v; runs %v, %v", name, lease.Holder, err, runs, listing)
		}
	}
}

func TestARunWhoseClusterIsSilentBegins(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]error{
		"nothing listens": &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "nothing listens at 127.0.0.1:1"},
		"it hangs":        &engine.Error{Kind: engine.Timeout, Text: "no answer in time"},
		"nobody leads":    fmt.Errorf("cluster lab1: %w", cluster.ErrNoPrimary),
		"a row is locked": &engine.Error{Kind: engine.LockTimeout, Text: "Lock wait timeout exceeded"},
	} {
		b := newBench(t)
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return &runbooktest.MemoryLock{Refuses: silent} }
		run := b.begin(Request{Book: b.parse(writing)})
		if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || st.Unclaimed["lab1"] == "" {
			t.Errorf("%s: %q, unclaimed %q", name, st.Outcome, st.Unclaimed)
		}
	}
}

// looked is a claim that can be looked at.
type looked struct {
	*runbooktest.MemoryLock
	tells error
}

func (l looked) Look(context.Context, string) error { return l.tells }

// The claim in the cluster is looked at when a plan is made: it alone tells of a run of another state folder.
func TestAPlanSaysWhoHasItsClusterOrThatItDoesNotTell(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	theirs := &action.ClaimedError{Cluster: "lab1", Run: "theirs"}
	mine := &action.ClaimedError{Cluster: "lab1", Run: b.begin(Request{Book: b.parse(writing)})}
	if st := b.runSession(mine.Run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatal(st.Outcome)
	}
	for name, c := range map[string]struct {
		tells, held error
		silent      string
	}{
		"free":                    {},
		"of another state folder": {tells: theirs, held: theirs},
		"of a run that has ended": {tells: mine},
		"it does not answer":      {tells: errors.New("no node\nanswers"), silent: "no node; answers"},
	} {
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return looked{&runbooktest.MemoryLock{}, c.tells} }
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(writing), Cluster: "lab1"})
		if err != nil || !errors.Is(p.Held, c.held) || p.Silent["lab1"] != c.silent {
			t.Errorf("%s: held %v, silent %q, %v", name, p.Held, p.Silent, err)
		}
	}
}
