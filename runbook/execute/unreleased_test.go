package execute

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// lookedAt is a cluster that tells who has it.
type lookedAt struct{ *runbooktest.MemoryLock }

func (l lookedAt) Look(_ context.Context, cluster string) error {
	if l.Has.Run == "" {
		return nil
	}
	return &action.ClaimedError{Cluster: cluster, Run: l.Has.Run}
}

// A cluster that an ended run has not given back is told by status and by plans, until it is given back: the process died before it could, or the
// cluster did not answer.
func TestAClusterThatAnEndedRunHasNotReleasedIsTold(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"killed", "killed, to the next run", "no answer", "no answer, to the next run"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			shared := &runbooktest.MemoryLock{}
			b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return lookedAt{shared} }
			told := func(run string) (status, plan []lock.Unreleased) {
				t.Helper()
				status, err := Unreleased(t.Context(), b.Service, run, b.stateOf(run))
				if err != nil {
					t.Fatal(err)
				}
				p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
				if err != nil {
					t.Fatal(err)
				}
				return status, p.Unreleased
			}
			var run string
			if killed := how == "killed" || how == "killed, to the next run"; killed {
				run = b.begin(Request{Book: b.parse(threeSteps)})
				claim := shared.Has
				b.runSession(run, journal.Command{Do: "run"})
				if status, plan := told(run); len(status)+len(plan) > 0 {
					t.Errorf("it was released: %v, %v", status, plan)
				}
				claim.Held = false
				if err := shared.Claim(t.Context(), claim); err != nil { // as it was before the release
					t.Fatal(err)
				}
				if _, err := b.Store.Acquire(t.Context(), lock.LeaseName("lab1"), run, time.Minute); err != nil {
					t.Fatal(err)
				}
			} else {
				run = b.begin(Request{Book: b.parse(`{runbook: test/failing, steps: [{id: a, uses: command, with: {run: "exit 1", effect: none}}]}`)})
				b.runSession(run, journal.Command{Do: "run"})
				shared.Mute = true
				if st := b.runSession(run, journal.Command{Do: "cancel"}); st.Outcome != journal.RunCancelled {
					t.Fatal(st.Outcome)
				}
				if gave, err := b.GiveBack(t.Context(), run); gave || !errors.Is(err, lock.ErrClaimStays) {
					t.Errorf("the cluster does not answer: gave back %v, %v", gave, err)
				}
			}
			is := lock.Unreleased{Cluster: "lab1", Run: run}
			if status, plan := told(run); len(status) != 1 || len(plan) != 1 || status[0] != is || plan[0] != is {
				t.Errorf("told %v and %v", status, plan)
			}
			shared.Mute = false
			if how == "killed" || how == "no answer" { // by the command that is advised
				if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil || shared.Has.Run != "" {
					t.Errorf("gave back %v, %v, claimed by %q", gave, err, shared.Has.Run)
				}
			} else if st := b.runSession(b.begin(Request{Book: b.parse(writing)}), journal.Command{Do: "run"}); st.Outcome != journal.RunDone || shared.Has.Run != "" {
				t.Errorf("the next run: %q, claimed by %q", st.Outcome, shared.Has.Run)
			}
			if status, plan := told(run); len(status)+len(plan) > 0 {
				t.Errorf("it was released, and is told: %v, %v", status, plan)
			}
			if gave, err := b.GiveBack(t.Context(), run); gave || err != nil {
				t.Errorf("gave back again: %v, %v", gave, err)
			}
		})
	}
}

// Of two clusters, that is told of which the claim stays, and not the other.
func TestOnlyTheClusterThatKeepsItsClaimIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	marks := &watched{}
	b.ClusterLock = marks.clusterLock
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(overTwo), Cluster: "lab2", Inputs: map[string]string{"source": "lab1"}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := b.Begin(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	marks.boards["lab2"].Mute = true
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatal(st.Outcome)
	}
	all, err := Unreleased(t.Context(), b.Service, run, b.stateOf(run))
	if err != nil || len(all) != 1 || all[0].Cluster != "lab2" {
		t.Errorf("%v, %v", all, err)
	}
}

// A claim that its cluster never took, as it never answered, stays nowhere: there is nothing to release, and nobody says that it stays.
func TestAClaimThatWasNeverStoredIsNotToldToStay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{Unclear: true, Mute: true}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return lookedAt{shared} }
	run := b.begin(Request{Book: b.parse(threeSteps)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatal(st.Outcome)
	}
	said := b.events(run, journal.Said)
	if len(said) != 1 || said[0].Claim || said[0].Cluster != "lab1" || !strings.HasPrefix(said[0].Reason, neverClaimed) {
		t.Errorf("said %+v", said)
	}
	if all, err := Unreleased(t.Context(), b.Service, run, b.stateOf(run)); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	if gave, err := b.GiveBack(t.Context(), run); gave || err != nil {
		t.Errorf("gave back %v, %v", gave, err)
	}
}

// A cluster that another run takes just now is not given back, and nobody is told that it was.
func TestWhatAnotherRunHasMeanwhileIsNotToldToBeReleased(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return lookedAt{shared} }
	run := b.begin(Request{Book: b.parse(`{runbook: test/failing, steps: [{id: a, uses: command, with: {run: "exit 1", effect: none}}]}`)})
	b.runSession(run, journal.Command{Do: "run"})
	shared.Mute = true
	b.runSession(run, journal.Command{Do: "cancel"})
	open := b.Open
	b.Open = func(ctx context.Context, name string) (*cluster.Cluster, error) {
		if _, err := b.Store.Acquire(ctx, lock.LeaseName(name), "another", time.Minute); err != nil {
			t.Error(err)
		}
		return open(ctx, name)
	}
	if gave, err := b.GiveBack(t.Context(), run); gave || err != nil {
		t.Errorf("gave back %v, %v", gave, err)
	}
}

// slow is a cluster that takes its time to remove a claim.
type slow struct {
	*runbooktest.MemoryLock
	takes time.Duration
}

func (s slow) Clear(ctx context.Context, c action.Claim) error {
	if until, bounded := ctx.Deadline(); bounded && time.Until(until) < s.takes {
		return context.DeadlineExceeded
	}
	return s.MemoryLock.Clear(ctx, c)
}

// Who types the command that releases a cluster waits for one that is slow, as on a busy machine; a run that only passes by does not.
func TestASlowClusterIsReleasedByTheCommandThatIsAdvised(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return slow{shared, 5 * time.Second} }
	run := b.begin(Request{Book: b.parse(threeSteps)})
	b.endsUnreleased(t, run, shared)
	if gave, err := b.GiveBack(t.Context(), run); !gave || err != nil || shared.Has.Run != "" {
		t.Errorf("gave back %v, %v, claimed by %q", gave, err, shared.Has.Run)
	}
}

// A run that was refused after it had claimed a cluster, which then did not let the claim be removed, holds up nobody: there is no such run that
// anybody could resume.
func TestTheClaimOfARunThatNeverBeganIsPassedOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return lookedAt{shared} }
	q := Request{Book: b.parse(`{runbook: test/one, steps: [{id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}]}`), Cluster: "lab1"}
	p, err := b.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.folder, "a"), nil, 0o600); err != nil { // the plan is another by now
		t.Fatal(err)
	}
	shared.Mute = true
	var changed *ChangedPlanError
	if _, err := b.Service.Begin(t.Context(), p); !errors.As(err, &changed) || shared.Has.Run == "" {
		t.Fatalf("%v, claimed by %q", err, shared.Has.Run)
	}
	refused := shared.Has.Run
	shared.Mute = false
	if p, err = b.Prepare(t.Context(), q); err != nil || p.Unreleased != nil || p.Held != nil {
		t.Errorf("the plan: %+v, %v", p, err)
	}
	if run, err := b.Service.Begin(t.Context(), p); err != nil || shared.Has.Run != run {
		t.Errorf("the next run: %v, claimed by %q, after %q", err, shared.Has.Run, refused)
	}
}

// endsUnreleased executes a run on lab1, and puts back what it held there: as if its process had died before the release.
func (b *bench) endsUnreleased(t *testing.T, run string, shared *runbooktest.MemoryLock) {
	t.Helper()
	claim := shared.Has
	b.runSession(run, journal.Command{Do: "run"})
	claim.Held = false
	if err := shared.Claim(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store.Acquire(t.Context(), lock.LeaseName("lab1"), run, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// A run that is done ends though its cluster lets the write that removes the claim wait without end, as while the network leg of its array hangs; and
// so does one that is cancelled. It says that its claim stays, and what removes it.
func TestARunEndsThoughItsClaimIsNotRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		book string
		do   []string
		want journal.Outcome
	}{
		"done":      {threeSteps, []string{"run"}, journal.RunDone},
		"cancelled": {`{runbook: test/failing, steps: [{id: a, uses: command, with: {run: "exit 1", effect: none}}]}`, []string{"run", "cancel"}, journal.RunCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			shared := &runbooktest.MemoryLock{}
			b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return slow{shared, time.Hour} }
			run := b.begin(Request{Book: b.parse(c.book)})
			var st *journal.State
			for _, do := range c.do {
				st = b.runSession(run, journal.Command{Do: journal.Verb(do)})
			}
			said := b.events(run, journal.Said)
			if st.Outcome != c.want || len(said) != 1 || !said[0].Claim || !strings.Contains(said[0].Reason, "plimsoll runbook resume "+run) {
				t.Errorf("outcome %q, said %+v", st.Outcome, said)
			}
			if lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1")); err != nil || lease.Holder != "" {
				t.Errorf("its lease is of %q, %v", lease.Holder, err)
			}
		})
	}
}
