package mysql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// claims tries the ClusterLock on a real server.
func claims(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, m := t.Context(), NewClusterLock(on)
	first := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	other := action.Claim{Cluster: "c", Run: "r2", Holder: "there", Epoch: 1, For: time.Minute}
	for range 2 { // taken, prolonged
		if err := m.Claim(ctx, first); err != nil {
			t.Fatal(err)
		}
	}
	var claimed *action.ClaimedError
	other.Break = true
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r1" || claimed.Expired {
		t.Errorf("a second run, although the first's claim holds: %v", err)
	}
	later := first
	later.Epoch, later.For = 2, time.Microsecond
	if err := m.Claim(ctx, later); err != nil {
		t.Fatal(err)
	}
	if err := m.Claim(ctx, first); !errors.As(err, &claimed) {
		t.Errorf("at an older epoch: %v", err)
	}
	other.Break = false
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || !claimed.Expired || time.Since(claimed.Since) > time.Hour {
		t.Errorf("one that has run out is taken unasked: %v", err)
	}
	other.Break = true
	if err := m.Claim(ctx, other); err != nil {
		t.Errorf("one that has run out is not taken: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, later), m.Clear(ctx, other)); err != nil {
		t.Fatal(err)
	}
	if err := m.Claim(ctx, first); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
	if err := m.Clear(ctx, first); err != nil {
		t.Error(err)
	}
}

// fencesWhoSlept has a run sleep while another breaks its claim, and gives the cluster back: an empty claim is not the sleeper's.
func fencesWhoSlept(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, m := t.Context(), NewClusterLock(on)
	sleeper := action.Claim{Cluster: "c", Run: "sleeper", Holder: "here", Epoch: 1, For: 100 * time.Millisecond}
	if err := m.Claim(ctx, sleeper); err != nil {
		t.Fatal(err)
	}
	sleeper.Held, sleeper.Since = true, time.Now()
	if err := m.Claim(ctx, sleeper); err != nil {
		t.Errorf("it cannot prolong its claim: %v", err)
	}
	usurper := action.Claim{Cluster: "c", Run: "usurper", Holder: "there", Epoch: 1, For: time.Minute, Break: true}
	if err := taken(ctx, m, sleeperGone(ctx, t, m, usurper)); err != nil {
		t.Fatal(err)
	}
	var claimed *action.ClaimedError
	if err := m.Claim(ctx, sleeper); !errors.As(err, &claimed) || claimed.Run != "usurper" {
		t.Errorf("it wakes while another has the cluster: %v", err)
	}
	if err := m.Clear(ctx, usurper); err != nil {
		t.Fatal(err)
	}
	for _, again := range []*ClusterLock{m, NewClusterLock(on)} {
		if err := again.Claim(ctx, sleeper); !errors.As(err, &claimed) || claimed.Run != "" || !strings.Contains(claimed.Error(), "another run held cluster c in the meantime, and has released it") {
			t.Errorf("it wakes when another has given the cluster back: %v", err)
		}
	}
	// An ended run of the same home whose claim could not be given back is passed over.
	stays := action.Claim{Cluster: "c", Run: "ended", Holder: "here", Epoch: 1, For: time.Minute}
	next := action.Claim{Cluster: "c", Run: "next", Holder: "here", Epoch: 1, For: time.Minute, Past: "ended"}
	if err := errors.Join(m.Claim(ctx, stays), m.Claim(ctx, next), m.Clear(ctx, next)); err != nil {
		t.Error(err)
	}
}

// sleeperGone waits until the claim that is there has run out.
func sleeperGone(ctx context.Context, t *testing.T, m *ClusterLock, c action.Claim) action.Claim {
	t.Helper()
	asks := c
	asks.Break = false
	until(ctx, t, "the claim does not run out", func() bool {
		var claimed *action.ClaimedError
		return errors.As(m.Claim(ctx, asks), &claimed) && claimed.Expired
	})
	return c
}

// claimsInABrokenTable tries it where the table of claims is not whole: a row that is missing is made, and a table that is another's is an
// error that no run passes for silence.
func claimsInABrokenTable(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, m := t.Context(), NewClusterLock(on)
	tell := func(statement string) {
		t.Helper()
		if err := on.Execute(ctx, "n1", []string{statement}, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	c := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	tell("DELETE FROM plimsoll.claim") // as if who made the table had died before the row was in it
	if err := m.Claim(ctx, c); err != nil {
		t.Errorf("without a row: %v", err)
	}
	var claimed *action.ClaimedError
	if err := NewClusterLock(on).Claim(ctx, action.Claim{Cluster: "c", Run: "r2", Holder: "there", Epoch: 1, For: time.Minute}); !errors.As(err, &claimed) || claimed.Run != "r1" {
		t.Errorf("the row that was made: %v", err)
	}
	tell("ALTER TABLE plimsoll.claim CHANGE holder bearer VARCHAR(200) NOT NULL")
	if err := m.Claim(ctx, c); engine.ClassOf(err) != engine.Missing {
		t.Errorf("in another table: %v", err)
	}
	tell("ALTER TABLE plimsoll.claim CHANGE bearer holder VARCHAR(200) NOT NULL")
	if err := m.Clear(ctx, c); err != nil {
		t.Error(err)
	}
}

// claimsWhereNobodyAnswers tries it when every server has been stopped: it is an error, of a kind for which a run waits.
func claimsWhereNobodyAnswers(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	var servers []cluster.Server
	for _, name := range []string{"n1", "n2"} {
		n, err := on.Node(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		servers = append(servers, n.Server)
	}
	stop := func(s cluster.Server) error { return s.Stop(ctx) }
	start := func(s cluster.Server) error { return s.Start(ctx) }
	each := func(do func(cluster.Server) error) {
		t.Helper()
		for _, s := range servers {
			if err := do(s); err != nil {
				t.Fatal(err)
			}
		}
		on.RolesChanged()
	}
	each(stop)
	m := NewClusterLock(on)
	c := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, c); engine.ClassOf(err) != engine.Unavailable {
		t.Errorf("claim: %v", err)
	}
	if err := m.Look(ctx, "c"); engine.ClassOf(err) != engine.Unavailable {
		t.Errorf("look: %v", err)
	}
	each(start)
	if err := errors.Join(m.Claim(ctx, c), m.Look(ctx, "c")); err == nil || !strings.Contains(err.Error(), "run r1") {
		t.Errorf("when they answer again: %v", err)
	}
	if err := m.Clear(ctx, c); err != nil {
		t.Error(err)
	}
}

// claimsBesideADeadNode tries it while a replica does not answer: the claim of a run that begins is written all the same, and keeps
// others out.
func claimsBesideADeadNode(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	n2, err := on.Node(ctx, "n2")
	if err == nil {
		err = n2.Server.Stop(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := NewClusterLock(on)
	first := action.Claim{Cluster: "c", Run: "r7", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, first); err != nil {
		t.Errorf("a run that begins while a replica is dead: %v", err)
	}
	var claimed *action.ClaimedError
	other := action.Claim{Cluster: "c", Run: "r8", Holder: "there", Epoch: 1, For: time.Minute}
	if err := NewClusterLock(on).Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r7" {
		t.Errorf("a second run while a replica is dead: %v", err)
	}
	if err := errors.Join(m.Clear(ctx, first), n2.Server.Start(ctx)); err != nil {
		t.Fatal(err)
	}
}

// claimsBesideAHang tries it while the primary hangs: what its replica has of another's claim refuses all the same.
func claimsBesideAHang(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	m := NewClusterLock(on)
	first := action.Claim{Cluster: "c", Run: "r1", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, first); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, "the claim did not reach the replica", func() bool {
		row, err := on.Row(ctx, "n2", readClaim)
		return err == nil && len(row) == 6 && row[0] == "r1"
	})
	n1, err := on.Node(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := n1.Server.(cluster.FaultProneServer).Freeze(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	other := action.Claim{Cluster: "c", Run: "r6", Holder: "there", Epoch: 1, For: time.Minute}
	var claimed *action.ClaimedError
	for try := 0; claimed == nil && try < 10; try++ { // a replica may be too busy to answer in its time
		err = m.Claim(ctx, other)
		errors.As(err, &claimed)
	}
	if claimed == nil || claimed.Run != "r1" {
		t.Errorf("a second run while the primary hangs: %v", err)
	}
	if err := n1.Server.(cluster.FaultProneServer).Thaw(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	if err := m.Clear(ctx, first); err != nil {
		t.Error(err)
	}
}

// claimPastAnEndedRun has a run take a cluster whose primary died with the claim of a run that has ended. It removes that one with its own, though it
// never wrote its own over it.
func claimPastAnEndedRun(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	n1, err := on.Node(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	ended := action.Claim{Cluster: "c", Run: "ended2", Holder: "here", Epoch: 1, For: time.Minute}
	if err := NewClusterLock(on).Claim(ctx, ended); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, "the claim did not reach the replica", func() bool {
		row, err := on.Row(ctx, "n2", readClaim)
		return err == nil && len(row) == 6 && row[0] == "ended2"
	})
	if err := n1.Server.(cluster.FaultProneServer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	next := action.Claim{Cluster: "c", Run: "next2", Holder: "here", Epoch: 1, For: time.Minute, Past: "ended2"}
	m := NewClusterLock(on)
	if err := m.Claim(ctx, next); err != nil {
		t.Errorf("past the claim of an ended run: %v", err)
	}
	if err := n1.Server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	if err := m.Clear(ctx, next); err != nil {
		t.Error(err)
	}
	if row, err := on.Row(ctx, "n1", readClaim); err != nil || len(row) != 6 || row[0] != "" {
		t.Errorf("the claim that stands afterwards: %v, %v", row, err)
	}
	until(ctx, t, "the replica keeps the claim", func() bool {
		row, err := on.Row(ctx, "n2", readClaim)
		return err == nil && len(row) == 6 && row[0] == ""
	})
}

// claimsWithoutPrimary tries it while the primary is dead, from two sites: what a replica locks for one refuses the other.
func claimsWithoutPrimary(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx := t.Context()
	n1, err := on.Node(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := n1.Server.(cluster.FaultProneServer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	other := &cluster.Cluster{Name: on.Name, Engine: on.Engine, Local: on.Local, List: on.List}
	other.AskRoles()
	here, there := NewClusterLock(on), NewClusterLock(other)
	there.locks.unheard = 2 * time.Second
	first := action.Claim{Cluster: "c", Run: "r7", Holder: "here", Epoch: 1, For: time.Minute}
	second := action.Claim{Cluster: "c", Run: "r8", Holder: "there", Epoch: 1, For: time.Minute}
	for range 2 { // taken, prolonged
		if err := here.Claim(ctx, first); err != nil {
			t.Fatal(err)
		}
	}
	var claimed *action.ClaimedError
	if err := there.Claim(ctx, second); !errors.As(err, &claimed) || !strings.Contains(claimed.Error(), "of n2)") {
		t.Errorf("a second run while there is no primary: %v", err)
	}
	second.Break = true
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := taken(ctx, there, second); err != nil {
		t.Errorf("the lock of one that is silent is not taken: %v", err)
	}
	first.Held = true
	if err := here.Claim(ctx, first); !errors.As(err, &claimed) {
		t.Errorf("it wakes, and is not fenced: %v", err)
	}
	if err := there.Clear(ctx, second); err != nil {
		t.Errorf("what was never written is not given back: %v", err)
	}
	first.Slept = true
	for range 2 { // who prolongs a claim asks every few seconds, and asks again before an act
		if err := here.Claim(ctx, first); !errors.Is(err, errLockedAnew) {
			t.Errorf("it wakes when another has given the cluster back, and is told that the cluster is its own: %v", err)
		}
	}
	first.Slept = false
	if err := taken(ctx, there, second); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := taken(ctx, here, first); err != nil {
		t.Errorf("after the other's cluster was closed: %v", err)
	}
	starts := func() {
		t.Helper()
		if err := n1.Server.Start(ctx); err != nil {
			t.Fatal(err)
		}
		on.RolesChanged()
	}
	starts()
	other = &cluster.Cluster{Name: on.Name, Engine: on.Engine, Local: on.Local, List: on.List}
	other.AskRoles()
	defer func() { _ = other.Close() }()
	second.Break = false
	if err := NewClusterLock(other).Claim(ctx, second); !errors.As(err, &claimed) || !strings.Contains(claimed.Error(), "of n2)") {
		t.Errorf("there is a primary again, and the claim is not yet written: %v", err)
	}
	if err := here.Claim(ctx, first); err != nil {
		t.Error(err)
	}
	until(ctx, t, "the claim is written, and the lock is still held", func() bool { // by a connection that ends in its own time
		value, err := on.Value(ctx, "n2", "SELECT COALESCE(IS_USED_LOCK('plimsoll.claim'), 'free')")
		return err == nil && value == "free"
	})
	first.For = time.Microsecond
	if err := here.Claim(ctx, first); err != nil {
		t.Fatal(err)
	}
	// One that has run out is broken while nothing can be written, and is no fence when it can be.
	until(ctx, t, "the claim that has run out did not reach the replica", func() bool {
		row, err := on.Row(ctx, "n2", readClaim)
		return err == nil && len(row) == 6 && row[0] == "r7" && !strings.HasPrefix(row[4], "-") // since it ran out
	})
	if err := n1.Server.(cluster.FaultProneServer).Kill(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	third, breaker := action.Claim{Cluster: "c", Run: "r9", Holder: "here", Epoch: 1, For: time.Minute, Break: true}, NewClusterLock(on)
	if err := breaker.Claim(ctx, third); !errors.As(err, &claimed) || claimed.Run != "r7" {
		t.Errorf("by the clock of a server that did not write it: %v", err)
	}
	breaker.locks.unheard = time.Second
	if err := breaker.Watch(ctx, third); err != nil {
		t.Fatal(err)
	}
	breaker.locks.unheard = unheard
	if err := breaker.Claim(ctx, third); err != nil {
		t.Errorf("one that has run out is not broken without a primary: %v", err)
	}
	third.Since = time.Now()
	starts()
	third.Break, third.Held = false, true // in another process, which knows of it by its journal alone
	if err := NewClusterLock(on).Claim(ctx, third); err != nil {
		t.Errorf("what was broken is a fence: %v", err)
	}
	if err := breaker.Clear(ctx, third); err != nil {
		t.Error(err)
	}
}

// claimsOfWhoSlept has a run sleep in a cluster without a primary, while another breaks its locks and promotes a server: it has lost the
// cluster before that other has written a claim of its own, and after it has given the cluster back without ever having written one.
func claimsOfWhoSlept(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	other := &cluster.Cluster{Name: on.Name, Engine: on.Engine, Local: on.Local, List: on.List}
	other.AskRoles()
	defer func() { _ = other.Close() }()
	readOnly := func(value string) {
		t.Helper()
		if err := on.Execute(ctx, "n1", []string{"SET GLOBAL read_only = " + value}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		on.RolesChanged()
		other.RolesChanged()
	}
	here, there := NewClusterLock(on), NewClusterLock(other)
	there.locks.unheard = time.Second
	sleeper := action.Claim{Cluster: "c", Run: "sleeps", Holder: "here", Epoch: 1, For: time.Millisecond}
	if err := here.Claim(ctx, sleeper); err != nil {
		t.Fatal(err)
	}
	sleeper.Held, sleeper.Since = true, time.Now()
	until(ctx, t, "the claim did not reach the replica", func() bool {
		row, err := on.Row(ctx, "n2", readClaim)
		return err == nil && len(row) == 6 && row[0] == "sleeps"
	})
	readOnly("1")
	usurper := action.Claim{Cluster: "c", Run: "usurps", Holder: "there", Epoch: 1, For: time.Minute, Break: true}
	woken := sleeper
	woken.Slept = true
	var claimed *action.ClaimedError
	early := NewClusterLock(on)
	if err := errors.Join(early.Claim(ctx, sleeper), taken(ctx, there, usurper), there.Clear(ctx, usurper)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := early.Claim(ctx, woken); !errors.Is(err, errLockedAnew) {
			t.Errorf("it wakes when another has had its locks and promoted nobody, and is told that the cluster is its own: %v", err)
		}
	}
	if err := errors.Join(here.Claim(ctx, sleeper), taken(ctx, there, usurper)); err != nil {
		t.Fatal(err)
	}
	usurper.Held, usurper.Since, usurper.Break = true, time.Now(), false
	readOnly("0") // it promotes this one
	for range 2 { // who prolongs a claim asks every few seconds, and asks again before an act
		if err := here.Claim(ctx, woken); !errors.Is(err, errLockedAnew) {
			t.Errorf("it wakes without its locks, and is told that the cluster is its own: %v", err)
		}
	}
	if err := NewClusterLock(on).Claim(ctx, woken); !errors.As(err, &claimed) {
		t.Errorf("it wakes while another has the locks, and is told that the cluster is its own: %v", err)
	}
	elsewhere := NewClusterLock(on)
	elsewhere.primary = "n2"
	if err := there.Clear(ctx, usurper); err != nil {
		t.Error(err)
	}
	until(ctx, t, "the locks are given back", func() bool {
		value, err := on.Value(ctx, "n1", "SELECT COALESCE(IS_USED_LOCK('plimsoll.claim'), 'free')")
		return err == nil && value == "free"
	})
	if err := here.Claim(ctx, woken); !errors.As(err, &claimed) || !claimed.Past() { // not only that it cannot be told
		t.Errorf("it wakes, and another has given the cluster back: %v", err)
	}
	unknown := woken
	unknown.Run, unknown.Since = "usurps", time.Now() // whose trace is its own
	if err := elsewhere.Claim(ctx, unknown); !errors.Is(err, errPrimaryChanged) {
		t.Errorf("it wakes in a cluster with another primary, and is told that it is its own: %v", err)
	}
	for _, c := range []action.Claim{sleeper, woken} {
		if err := NewClusterLock(on).Claim(ctx, c); !errors.As(err, &claimed) || !claimed.Past() {
			t.Errorf("another has given the cluster back without a trace, slept: %v: %v", c.Slept, err)
		}
	}
}

// taken takes a claim that nobody has a right to any more, or soon will not. A server gives the lock of a connection back in its
// own time, after whoever had it has hung up or was ended.
func taken(ctx context.Context, m *ClusterLock, c action.Claim) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := m.Claim(ctx, c)
		var claimed *action.ClaimedError
		if !errors.As(err, &claimed) || claimed.Expired {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// until waits for what a server comes to in its own time.
func until(ctx context.Context, t *testing.T, otherwise string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(otherwise)
		}
	}
}

// claimsThatAreCopies has the replica n2 lose its source while a run has the cluster: the copy of the claim stays there when the run has given the
// cluster back. It is nobody's while the primary answers, and counts while the primary does not.
func claimsThatAreCopies(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, m := t.Context(), NewClusterLock(on)
	n1, err := on.Node(ctx, "n1")
	if err != nil {
		t.Fatal(err)
	}
	n2, err := on.Node(ctx, "n2")
	if err != nil {
		t.Fatal(err)
	}
	if err := n2.Server.Start(ctx); err != nil { // other tests may have left it stopped
		t.Fatal(err)
	}
	on.RolesChanged()
	first := action.Claim{Cluster: "c", Run: "r5", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, first); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, "the claim did not reach the replica", func() bool {
		row, err := on.Row(ctx, "n2", readClaim)
		return err == nil && len(row) == 6 && row[0] == "r5"
	})
	version, err := on.Value(ctx, "n2", "SELECT VERSION()")
	if err != nil {
		t.Fatal(err)
	}
	loses, opens := []string{"STOP REPLICA", "RESET REPLICA ALL"}, "SET GLOBAL read_only = OFF"
	if strings.Contains(version, "MariaDB") {
		loses = []string{"STOP SLAVE", "RESET SLAVE ALL"}
	}
	if err := on.Execute(ctx, "n2", loses, func(int) {}); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	var claimed *action.ClaimedError
	if err := m.Look(ctx, "c"); !errors.As(err, &claimed) || claimed.Run != "r5" || claimed.Holder != "here" {
		t.Errorf("while the run has the cluster: %v", err)
	}
	if err := m.Clear(ctx, first); err != nil {
		t.Fatal(err)
	}
	other := action.Claim{Cluster: "c", Run: "r6", Holder: "there", Epoch: 1, For: time.Minute}
	for _, tell := range []string{"SELECT 1", opens} { // it still refuses writes, and it takes them
		if err := on.Execute(ctx, "n2", []string{tell}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		on.RolesChanged()
		if row, err := on.Row(ctx, "n2", readClaim); err != nil || len(row) != 6 || row[0] != "r5" {
			t.Fatalf("n2 has the claim %v, %v", row, err)
		}
		if err := m.Look(ctx, "c"); err != nil {
			t.Errorf("after %s: the claim of a run that has given the cluster back: %v", tell, err)
		}
		second := NewClusterLock(on)
		if err := errors.Join(second.Claim(ctx, other), second.Clear(ctx, other)); err != nil {
			t.Errorf("after %s: the next run is refused: %v", tell, err)
		}
	}
	if err := errors.Join(on.Execute(ctx, "n2", []string{"SET GLOBAL read_only = ON"}, func(int) {}), n1.Server.Stop(ctx)); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
	if err := m.Look(ctx, "c"); !errors.As(err, &claimed) || claimed.Run != "r5" {
		t.Errorf("while the primary cannot be asked: %v", err)
	}
	if err := n1.Server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	on.RolesChanged()
}

// claimsApart tries it on servers that have nothing to do with one another, of which now one, now another is taken for the
// primary. The replica n2 of a MariaDB becomes such a server.
func claimsApart(t *testing.T, on *cluster.Cluster) {
	t.Helper()
	ctx, m := t.Context(), NewClusterLock(on)
	tell := func(node string, statements ...string) {
		t.Helper()
		if err := on.Execute(ctx, node, statements, func(int) {}); err != nil {
			t.Fatal(err)
		}
		on.RolesChanged()
	}
	n2, err := on.Node(ctx, "n2")
	if err == nil {
		err = n2.Server.Start(ctx) // other tests may have left it stopped
	}
	if err != nil {
		t.Fatal(err)
	}
	tell("n2", "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF", "UPDATE plimsoll.claim SET run = ''")
	tell("n1", "SET GLOBAL read_only = ON")
	first := action.Claim{Cluster: "c", Run: "r3", Holder: "here", Epoch: 1, For: time.Minute, Break: true}
	if err := m.Claim(ctx, first); err != nil {
		t.Fatal(err)
	}
	tell("n1", "SET GLOBAL read_only = OFF", "UPDATE plimsoll.claim SET run = ''")
	other := action.Claim{Cluster: "c", Run: "r4", Holder: "there", Epoch: 1, For: time.Minute}
	var claimed *action.ClaimedError
	if err := m.Claim(ctx, other); !errors.As(err, &claimed) || claimed.Run != "r3" {
		t.Errorf("a second run on another server: %v", err)
	}
	if err := m.Clear(ctx, first); err != nil {
		t.Error(err)
	}
	if err := m.Claim(ctx, other); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

// A node that hangs is waited for as long as another that answers is not enough.
func TestASlowNodeIsHeardBesideOneThatHangs(t *testing.T) {
	const hangs = time.Hour
	for name, c := range map[string]struct {
		answers []time.Duration
		takes   time.Duration
		heard   int
	}{
		"both quick":          {[]time.Duration{time.Second, time.Millisecond}, time.Second, 2},
		"one hangs":           {[]time.Duration{hangs, time.Millisecond}, oneNode, 1},
		"one hangs, one slow": {[]time.Duration{hangs, 5 * time.Second}, 5 * time.Second, 1},
		"all hang":            {[]time.Duration{hangs, hangs}, anyNode, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				heard := make([]bool, len(c.answers))
				NewClusterLock(&cluster.Cluster{}).each(t.Context(), []string{"n1", "n2"}, func(ctx context.Context, i int) bool {
					select {
					case <-time.After(c.answers[i]):
						heard[i] = true
					case <-ctx.Done():
					}
					return heard[i]
				})
				all := 0
				for _, h := range heard {
					if h {
						all++
					}
				}
				if took := time.Since(began); took != c.takes || all != c.heard {
					t.Errorf("%d were heard after %v, want %d after %v", all, took, c.heard, c.takes)
				}
			})
		})
	}
}
