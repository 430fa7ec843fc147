package execute

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/runbooktest"
)

// labMadeAt has the bench's clusters be labs that were made at a time.
func labMadeAt(b *bench, made *time.Time) {
	open := b.Open
	b.Open = func(ctx context.Context, name string) (*cluster.Cluster, error) {
		on, err := open(ctx, name)
		if err == nil {
			on.Made = *made
		}
		return on, err
	}
}

func TestALabMadeAnewIsNotHeldByTheRunOfTheOldOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.TTL = 50 * time.Millisecond
	var made time.Time
	labMadeAt(b, &made)
	q := Request{Book: b.parse(touching), Cluster: "lab1"}
	old := b.begin(q) // its process dies
	lease, err := b.Store.Lease(t.Context(), lock.LeaseName("lab1"))
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for lease.Expires.After(time.Now()) {
		<-tick.C
	}
	p, err := b.Prepare(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var busy *lock.BusyError
	for _, made = range []time.Time{{}, time.Now().Add(-time.Hour)} {
		if _, err := b.Service.Begin(t.Context(), p); !errors.As(err, &busy) || busy.Run != old {
			t.Errorf("of servers made %s: %v", made, err)
		}
	}
	made = time.Now()
	if p, err = b.Prepare(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Service.Begin(t.Context(), p); err != nil {
		t.Errorf("of a lab made anew: %v", err)
	}
	e := b.started(old, journal.Command{Do: "resume"})
	if err := e.Wait(t.Context(), old); !errors.As(err, &busy) {
		t.Errorf("the run of the old lab goes on: %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALabMadeAnewHasNothingLeftOfTheOldOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var made time.Time
	labMadeAt(b, &made)
	left := journal.Remainder{Cluster: "lab1", Run: "r1", Runbook: "mysql/switchover", Why: "cancelled", At: time.Now()}
	if err := left.Keep(t.Context(), b.Store); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]int{{}: 1, left.At.Add(-time.Hour): 1, left.At.Add(time.Second): 0} {
		made = at
		if all, err := b.OpenRemainders(t.Context(), "lab1"); err != nil || len(all) != want {
			t.Errorf("of servers made %s: %v, %v, expected %d", at, all, err, want)
		}
	}
}

// shut is an engine whose servers are read only.
type shut struct{}

func (shut) Name() string                                                   { return "shut" }
func (s shut) Open(context.Context, engine.Target) (engine.Database, error) { return s, nil }
func (shut) Session(context.Context) (engine.Session, error)                { return nil, errors.New("none") }
func (shut) Facts(context.Context) (engine.Facts, error)                    { return engine.Facts{}, nil }
func (shut) Close() error                                                   { return nil }
func (shut) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) {
	return engine.ReplicationStatus{ReadOnly: true}, nil
}

func TestARunThatCannotGoOnSaysThatNobodyTakesWrites(t *testing.T) {
	t.Parallel()
	on, err := runbooktest.NewCluster("c", "lab", "n1", "n2")
	if err != nil {
		t.Fatal(err)
	}
	cannot := errors.New("write the journal: database or disk is full")
	r := &runner{cluster: on, outside: t.Context(), state: &journal.State{Items: []*journal.Step{{Key: "demote", Phase: journal.StepDone, Acts: true}, {Key: "promote", Phase: journal.StepActing, Acts: true}}}}
	if text := sessionEnd(r, cannot).Error(); strings.Contains(text, nobodyAccepts) {
		t.Errorf("of a cluster without a primary to have: %s", text)
	}
	on.Engine = shut{}
	on.AskRoles()
	defer func() { _ = on.Close() }()
	err = sessionEnd(r, cannot)
	if !errors.Is(err, cannot) || !strings.Contains(err.Error(), "step promote was acting") || !strings.HasSuffix(err.Error(), "no node of c reports that it accepts writes") {
		t.Errorf("it says: %v", err)
	}
	if e := parkedEvent(r, "the Plimsoll process that executed it ended"); e.Reason != "the Plimsoll process that executed it ended; no node of c reports that it accepts writes" {
		t.Errorf("a run that is parked says: %s", e.Reason)
	}
	r.state.Items = []*journal.Step{{Key: "look", Phase: journal.StepDone}}
	if text := sessionEnd(r, cannot).Error(); strings.Contains(text, nobodyAccepts) {
		t.Errorf("of a run that changed nothing: %s", text)
	}
}

// A lab that a run has open cannot be opened again: what is left of it is told without that, in a plan and at the end of a run.
func TestRemaindersOfAnOpenLabAreToldWithoutOpeningItAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	open, again := false, 0
	reach := b.Open
	b.Open = func(ctx context.Context, name string) (*cluster.Cluster, error) {
		if open {
			again++
			return nil, infra.ErrLocked
		}
		on, err := reach(ctx, name)
		if err != nil {
			return nil, err
		}
		open = true
		release := on.Release
		on.Release = func() error {
			open = false
			if release == nil {
				return nil
			}
			return release()
		}
		return on, nil
	}
	left := journal.Remainder{Cluster: "lab1", Run: "r1", Runbook: "mysql/switchover", Why: "cancelled", At: time.Now()}
	if err := left.Keep(t.Context(), b.Store); err != nil {
		t.Fatal(err)
	}
	p, err := b.Prepare(t.Context(), Request{Book: b.parse(threeSteps), Cluster: "lab1"})
	if err != nil || len(p.Left) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if st := b.runSession(b.begin(Request{Book: b.parse(threeSteps)}), journal.Command{Do: "run"}); st.Outcome != journal.RunDone {
		t.Errorf("the run is %s", st.Outcome)
	}
	if again > 0 {
		t.Errorf("it was opened %d times while it was open", again)
	}
}
