package execute

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// dieWhenLocked takes a cluster as Begin does, and leaves it as a process does that dies before it has made the run. It returns
// when the lease has run out.
func (b *bench) dieWhenLocked(h journal.Header, run string) {
	b.t.Helper()
	func() {
		defer func() { _ = recover() }()
		err := b.locks().Lock(b.t.Context(), &h, run, func(*cluster.Cluster) error { panic("killed") })
		b.t.Errorf("the cluster was not taken: %v", err)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		lease, err := b.Store.Lease(b.t.Context(), lock.LeaseName(h.Cluster))
		if err != nil {
			b.t.Fatal(err)
		}
		if lease.Expires.Before(time.Now()) {
			return
		}
		<-tick.C
	}
}

const touching = `
runbook: test/touching
steps:
  - {id: a, uses: command, with: {run: "touch DIR/a", check: "test -e DIR/a"}}
`

func TestAClusterThatWasTakenForARunThatWasNeverMadeIsTakenOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.TTL = 2 * time.Second
	shared := &runbooktest.MemoryLock{}
	b.ClusterLock = func(*cluster.Cluster) lock.ClusterLock { return shared }
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(touching), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	b.dieWhenLocked(p.Header, "touching-dead")
	if shared.Has.Run != "touching-dead" {
		t.Fatalf("the claim is of %q", shared.Has.Run)
	}
	shared.Mute = true // the cluster does not take the claim back: nobody may believe that it did
	_, err = b.Begin(t.Context(), p)
	var busy *lock.BusyError
	if !errors.As(err, &busy) || strings.Contains(busy.Hint(), "status") || !strings.Contains(busy.Hint(), "--break-lock") {
		t.Errorf("while the cluster keeps the claim: %v", err)
	}
	shared.Mute = false
	run, err := b.Begin(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if st := b.runSession(run, journal.Command{Do: "run"}); st.Outcome != journal.RunDone || shared.Has.Run != "" {
		t.Errorf("outcome %q, the claim is of %q", st.Outcome, shared.Has.Run)
	}
}

func TestAClusterThatIsTakenForARunInTheMakingIsNotTakenOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(touching), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header
	if err := b.locks().Lock(t.Context(), &h, "touching-slow", func(*cluster.Cluster) error {
		_, err := b.Begin(t.Context(), p)
		var busy *lock.BusyError
		if !errors.As(err, &busy) || !strings.Contains(err.Error(), "touching-slow, which is starting") || !strings.Contains(busy.Hint(), "try again in a moment") {
			t.Errorf("begin while another begins: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestWhoseClusterWasTakenOverBeforeItsRunWasMadeParks has a process that sleeps for longer than its lease between the two.
func TestWhoseClusterWasTakenOverBeforeItsRunWasMadeParks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.TTL = time.Second
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(touching), Cluster: "lab1"})
	if err != nil {
		t.Fatal(err)
	}
	b.dieWhenLocked(p.Header, "touching-slow")
	if _, err := b.Begin(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := b.Store.Create(t.Context(), "touching-slow", []byte(`{"runbook": "test/touching", "cluster": "lab1"}`)); err != nil {
		t.Fatal(err)
	}
	if freed, err := b.Store.ReleaseOrphan(t.Context(), lock.LeaseName("lab1")); freed || err != nil {
		t.Errorf("the lease of a run that there is was given back: %v", err)
	}
	st := &journal.State{Header: journal.Header{Cluster: "lab1"}}
	on, err := b.Open(t.Context(), "lab1")
	if err != nil {
		t.Fatal(err)
	}
	var busy *lock.BusyError
	if _, err := b.locks().Take(t.Context(), on, st, "touching-slow", lock.ShortPatience); !errors.As(err, &busy) {
		t.Errorf("it has the cluster all the same: %v", err)
	}
	if err := on.Close(); err != nil {
		t.Fatal(err)
	}
}
