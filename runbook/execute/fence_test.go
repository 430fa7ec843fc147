package execute

import (
	"context"
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

func TestARunWhoseClusterWasTakenActsNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(asking)})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
	takenBy(t, shared, "theirs")
	for _, who := range []string{"bob", "cid"} {
		b.User = who
		if err := b.Tell(t.Context(), run, journal.Message{Say: "approve", Step: "go", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.read("b") != "" || len(b.events(run, journal.Intended)) != 1 {
		t.Error("it acted on a cluster that was taken")
	}
	if parked := b.events(run, journal.Parked); len(parked) != 1 || !strings.Contains(parked[0].Reason, "another run") {
		t.Errorf("parked %+v", parked)
	}
	// Its next session finds the cluster taken and does not begin.
	e = b.started(run, journal.Command{Do: "resume"})
	if err := e.Wait(t.Context(), run); err == nil || !strings.Contains(err.Error(), "theirs") {
		t.Errorf("the next session ended with %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := b.runSession(run, journal.Command{Do: "cancel", Reason: "it is theirs"}); st.Outcome != journal.RunCancelled {
		t.Errorf("it cannot be given up: %q", st.Outcome)
	}
	if shared.Has.Run != "theirs" {
		t.Errorf("giving up took the claim of %q", shared.Has.Run)
	}
	if lease, err := b.Store.Lease(t.Context(), "cluster lab1"); err != nil || lease.Holder != "" {
		t.Errorf("the lock is held by %q, %v", lease.Holder, err)
	}
}

func TestAnOwnerThatSleptActsOnlyAfterAClearAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slept, unclear, answersAgain bool
		want                         error
	}{
		"awake, the target answers":              {},
		"awake, it does not: nobody can take it": {unclear: true},
		"it slept, the target answers":           {slept: true},
		"it slept, the target does not answer":   {slept: true, unclear: true, want: lock.ErrUnsure},
		"it slept, the target answers after all": {slept: true, unclear: true, answersAgain: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, shared := newBench(t), &runbooktest.MemoryLock{}
			h, err := lock.Hold(t.Context(), b.Store, shared, action.Claim{Cluster: "lab1", Run: "ours", For: time.Minute}, lock.LongPatience)
			if err != nil {
				t.Fatal(err)
			}
			if c.slept {
				h.Asked = h.Asked.Add(-2 * time.Minute)
			}
			shared.Unclear = c.unclear
			if err := h.Confirm(t.Context()); err != nil {
				t.Fatalf("to prolong: %v", err)
			}
			shared.Unclear = c.unclear && !c.answersAgain
			if err := h.MayAct(t.Context()); !errors.Is(err, c.want) || !errors.Is(h.Why(), c.want) || errors.Is(err, lock.ErrFenced) {
				t.Errorf("to act: %v, lost %v", err, h.Why())
			}
		})
	}
}

func TestAClaimOfAnotherStoreRefusesARunBeforeItBegins(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{Has: action.Claim{Run: "theirs", Holder: "eve@laptop (process 7 on laptop)"}}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	begin := func(reason string) (string, error) {
		t.Helper()
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1", BreakLock: reason})
		if err != nil {
			t.Fatal(err)
		}
		return b.Begin(t.Context(), p)
	}
	for _, dead := range []bool{false, true} {
		shared.Dead = dead
		_, err := begin("")
		var claimed *action.ClaimedError
		if !errors.As(err, &claimed) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("got %v", err)
		}
		for _, part := range []string{"cluster lab1", "run theirs", "eve@laptop", "process 7", "since"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not name %q", err, part)
			}
		}
		if hint := claimed.Hint(); dead == strings.HasPrefix(hint, "wait until it ends") || dead == strings.Contains(hint, "its claim expires within a minute; then") || !strings.Contains(hint, "--break-lock") {
			t.Errorf("hint %q", hint)
		}
	}
	if runs, err := b.Store.Runs(t.Context()); err != nil || len(runs) != 0 {
		t.Errorf("%d runs began, %v", len(runs), err)
	}
	if lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1")); err != nil || lease.Holder != "" {
		t.Errorf("the refused run keeps the lease: %q, %v", lease.Holder, err)
	}
	shared.Dead = false
	if _, err := begin("its laptop is lost"); err == nil {
		t.Error("a claim that is alive was broken")
	}
	shared.Dead = true
	run, err := begin("its laptop is lost")
	if err != nil {
		t.Fatal(err)
	}
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || st.Header.BrokenLock == "" || shared.Has.Run != "" {
		t.Errorf("outcome %q, reason %q, still claimed by %q", st.Outcome, st.Header.BrokenLock, shared.Has.Run)
	}
}

func TestALockWhoseOwnerIsGoneIsBrokenWithAReasonThatStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.TTL = time.Millisecond
	left := b.begin(Request{Book: b.parse(threeSteps)})
	lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1"))
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Until(lease.Expires) + time.Millisecond) // it runs out by the clock alone
	begin := func(reason string) (string, error) {
		p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1", BreakLock: reason})
		if err != nil {
			t.Fatal(err)
		}
		return b.Begin(t.Context(), p)
	}
	var busy *lock.BusyError
	if _, err := begin(""); !errors.As(err, &busy) || busy.Run != left || !busy.Idle || !strings.Contains(err.Error(), "ann") {
		t.Fatalf("got %v", err)
	}
	b.TTL = 5 * time.Second
	run, err := begin("it was forgotten")
	if err != nil {
		t.Fatal(err)
	}
	if h := b.runSession(run, journal.Command{Do: "run"}).Header; len(h.Broke) != 1 || h.Broke[0] != left {
		t.Errorf("broke %v", h.Broke)
	}
}

func TestAClaimThatAnEndedRunOfThisStoreCouldNotGiveBackIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	shared.Mute = true // as if the server were down when the run ends
	run := b.begin(Request{Book: b.parse(threeSteps)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || shared.Has.Run != run || len(b.events(run, journal.Said)) != 1 {
		t.Fatalf("outcome %q, claimed by %q", st.Outcome, shared.Has.Run)
	}
	shared.Mute = false
	if st := b.runSession(b.begin(Request{Book: b.parse(threeSteps)}), journal.Command{Do: "run"}); st.Outcome != journal.RunDone || shared.Has.Run != "" {
		t.Errorf("outcome %q, claimed by %q", st.Outcome, shared.Has.Run)
	}
}

// Two of two replicas keep a claim, and one of them is away until the run has started it: only then is it seen that the run before,
// which stopped it, could not give its claim back.
func TestAClaimOfAnEndedRunThatIsSeenInTheMiddleOfTheNextIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	shared.Mute = true
	before := b.begin(Request{Book: b.parse(threeSteps)})
	if st := b.runSession(before, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || shared.Has.Run != before {
		t.Fatalf("outcome %q, claimed by %q", st.Outcome, shared.Has.Run)
	}
	shared.Mute, shared.Unclear = false, true
	run := b.begin(Request{Book: b.parse(asking)})
	e := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(*journal.State) bool { return len(b.events(run, journal.Asked)) > 0 })
	shared.Mu.Lock()
	shared.Unclear = false
	shared.Mu.Unlock()
	for _, who := range []string{"bob", "cid"} {
		b.User = who
		if err := b.Tell(t.Context(), run, journal.Message{Say: "approve", Step: "go", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone || shared.Has.Run != "" {
		t.Errorf("outcome %q, claimed by %q, parked %+v", st.Outcome, shared.Has.Run, b.events(run, journal.Parked))
	}
}

// A run that was begun, and whose process died before it wrote anything, has taken its cluster: given up, it gives it back.
func TestARunThatNeverWroteAnythingGivesItsClaimBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(threeSteps)})
	if shared.Has.Run != run || shared.Has.Epoch == 0 {
		t.Fatalf("claimed by %+v", shared.Has)
	}
	if st := b.runSession(run, journal.Command{Do: "cancel"}); st.Outcome != journal.RunCancelled || shared.Has.Run != "" {
		t.Errorf("outcome %q, claimed by %+v", st.Outcome, shared.Has)
	}
}

// A cluster that does not answer when a failed run is given up keeps its claim, and the journal says so.
func TestAClaimThatStaysAfterAFailedRunIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	run := b.begin(Request{Book: b.parse(`{runbook: test/failing, steps: [{id: a, uses: command, with: {run: "exit 1", effect: none}}]}`)})
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunFailed || shared.Has.Run != run {
		t.Fatalf("outcome %q, claimed by %+v", st.Outcome, shared.Has)
	}
	shared.Mute = true
	st := b.runSession(run, journal.Command{Do: "cancel"})
	if said := b.events(run, journal.Said); st.Outcome != journal.RunCancelled || len(said) != 1 || !said[0].Claim || !strings.HasPrefix(said[0].Reason, claimStays) {
		t.Errorf("outcome %q, said %+v", st.Outcome, said)
	}
}

// interrupting is a ClusterLock that is interrupted when it has taken a cluster.
type interrupting struct {
	*runbooktest.MemoryLock
	by context.CancelFunc
}

func (i interrupting) Claim(ctx context.Context, c action.Claim) error {
	defer i.by()
	return i.MemoryLock.Claim(ctx, c)
}

func (i interrupting) Clear(ctx context.Context, c action.Claim) error {
	return errors.Join(ctx.Err(), i.MemoryLock.Clear(context.WithoutCancel(ctx), c))
}

func TestARunThatIsInterruptedWhileItBeginsHoldsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, interrupt := context.WithCancel(t.Context())
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return interrupting{shared, interrupt} }
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	if run, err := b.Begin(ctx, p); !errors.Is(err, context.Canceled) || run != "" {
		t.Errorf("began %q, %v", run, err)
	}
	lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1"))
	if err != nil || lease.Holder != "" || shared.Has.Run != "" {
		t.Errorf("leased to %q, claimed by %q, %v", lease.Holder, shared.Has.Run, err)
	}
}

// patient is a ClusterLock that notes how long it may take to answer.
type patient struct {
	*runbooktest.MemoryLock
	mayTake []time.Duration
}

func (p *patient) Claim(ctx context.Context, c action.Claim) error {
	if end, limited := ctx.Deadline(); limited {
		p.Mu.Lock()
		p.mayTake = append(p.mayTake, time.Until(end))
		p.Mu.Unlock()
	}
	return p.MemoryLock.Claim(ctx, c)
}

// A run goes on in under two seconds, whatever its cluster says: also one that was killed before it wrote that it had taken it.
func TestAStintThatBeginsWaitsASecondForItsCluster(t *testing.T) {
	t.Parallel()
	b, asked := newBench(t), &patient{MemoryLock: &runbooktest.MemoryLock{}}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return asked }
	run := b.begin(Request{Book: b.parse(threeSteps)})
	before := len(asked.mayTake)
	if before == 0 || asked.mayTake[0] <= lock.ShortPatience {
		t.Errorf("before a run is made its cluster may take %v", asked.mayTake)
	}
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Fatalf("outcome %q", st.Outcome)
	}
	if len(asked.mayTake) <= before+1 || asked.mayTake[before] > lock.ShortPatience {
		t.Errorf("when a session begins, and before its acts: %v", asked.mayTake[before:])
	}
}

// takenBy has another host's run take the cluster by force, as one does whose owner was asleep.
func takenBy(t *testing.T, b *runbooktest.MemoryLock, run string) {
	t.Helper()
	b.Mu.Lock()
	b.Dead = true
	ranOut := time.Now().Add(b.Has.For)
	b.Mu.Unlock()
	if err := b.Claim(context.WithoutCancel(t.Context()), action.Claim{Cluster: "lab1", Run: run, Holder: "another laptop", Epoch: 1, For: time.Minute, Break: true}); err != nil {
		t.Errorf("%s did not get it: %v", run, err)
	}
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.At = ranOut // not before the claim of the first had run out
}

// sleeper is an act whose process is suspended in its middle, while theirs takes the cluster, and which takes every refusal for a silent
// node, as acts on several nodes may.
type sleeper struct {
	shared  *runbooktest.MemoryLock
	suspend time.Duration
	refused *error
}

func (s *sleeper) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *sleeper) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	return action.CheckResult{State: action.Needed, Intended: action.Facts{"open": true}}, nil
}

func (s *sleeper) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	if _, err := on.Node(ctx, "n1"); err != nil {
		return nil, err
	}
	s.shared.Mu.Lock() // nothing of this process asks the cluster meanwhile
	<-time.After(s.suspend)
	s.shared.Has, s.shared.At = action.Claim{Cluster: "lab1", Run: "theirs", Holder: "another laptop", Epoch: 1, For: time.Minute}, time.Now()
	s.shared.Mu.Unlock()
	_, *s.refused = on.Node(ctx, "n1")
	return action.Facts{"open": true}, nil
}

func (s *sleeper) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

func (s *sleeper) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	_, err := s.Act(ctx, on, c)
	return err
}

// An owner that is suspended in the middle of an act or an undo goes on with nothing of it once another has taken the cluster: it would
// open a second primary.
func TestAnOwnerWhoSleptInTheMiddleOfAnActGoesOnWithNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		undo       bool
		began, not journal.Kind
	}{{false, journal.Intended, journal.Acted}, {true, journal.Undoing, journal.Undone}} {
		b, shared := newBench(t), &runbooktest.MemoryLock{}
		b.TTL = 300 * time.Millisecond
		b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
		var refused error
		s := sleeper{shared: shared, refused: &refused, suspend: 3 * b.TTL}
		b.Actions = append(b.Actions, action.Action{Name: "test.sleeper", Version: 1, About: "Sleeps.", New: func() action.Task {
			if c.undo {
				return &waking{s}
			}
			return &s
		}})
		run := b.begin(Request{Book: b.parse("runbook: test/sleeper\nsteps:\n  - {id: a, uses: test.sleeper}\n  - {id: b, uses: command, with: {run: \"false\", undo: \"true\", repeatable: true}}\n")})
		st := b.runSession(run, journal.Command{Do: "run"})
		if c.undo {
			st = b.runSession(run, journal.Command{Do: "cancel", Undo: true})
		}
		if !errors.Is(refused, lock.ErrFenced) {
			t.Errorf("undo %v: after the sleep it was told %v", c.undo, refused)
		}
		began, ended := 0, 0
		for _, e := range b.events(run, c.began, c.not, journal.Stuck) {
			switch {
			case e.Step != "a":
			case e.Kind == c.began:
				began++
			default:
				ended++
			}
		}
		if st.Status() != "parked" || began != 1 || ended != 0 {
			t.Errorf("undo %v: status %q, begun %d times, ended %d times", c.undo, st.Status(), began, ended)
		}
		if cut := b.events(run, journal.Cut); len(cut) > 0 {
			t.Errorf("undo %v: of an act that was stopped in its middle it is said: %s", c.undo, cut[0].Text())
		}
		what := map[bool]string{false: "step a", true: "the undo of step a"}[c.undo]
		if want := what + " had begun, and is not continued: what it had changed by then stays"; !strings.Contains(st.Why, "another run took the cluster") || !strings.Contains(st.Why, "run theirs") || !strings.Contains(st.Why, want) {
			t.Errorf("undo %v: parked: %s\nwant that another run took the cluster, and that %s", c.undo, st.Why, want)
		}
	}
}

// waking sleeps in its undo alone.
type waking struct{ sleeper }

func (w *waking) Act(context.Context, *cluster.Cluster, action.Call) (action.Facts, error) {
	return nil, nil
}

func (w *waking) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	_, err := w.sleeper.Act(ctx, on, c)
	return err
}

// givenBackBy has it give the cluster back.
func givenBackBy(t *testing.T, b *runbooktest.MemoryLock, run string) {
	t.Helper()
	if err := b.Clear(t.Context(), action.Claim{Cluster: "lab1", Run: run, Epoch: 1}); err != nil || b.Has.Run != "" {
		t.Errorf("the claim is of %q, %v", b.Has.Run, err)
	}
}
