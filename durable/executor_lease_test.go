package durable

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"plimsoll/durable/durabletest"
)

// hosts are two state folders of one Postgres.
func hosts(t *testing.T) (a, b Options) {
	t.Helper()
	postgres := durabletest.Postgres(t)
	return Options{Folder: t.TempDir(), Postgres: postgres, Version: "1"}, Options{Folder: t.TempDir(), Postgres: postgres, Version: "1"}
}

// asleep lets the executor of a session sleep until it counts as dead.
func asleep(t *testing.T, j *Journal) {
	t.Helper()
	j.lease.mu.Lock()
	defer j.lease.mu.Unlock()
	j.lease.asked = time.Now().Add(time.Hour) // it does not come to prolong its lease
	if n, err := j.store.db.exec(t.Context(), `UPDATE {leases} SET expires = 0 WHERE name = ?`, executorLeaseName(j.run)); n != 1 || err != nil {
		t.Fatalf("%d leases, %v", n, err)
	}
}

// awake lets it wake: much time has passed by the wall clock.
func awake(j *Journal) {
	j.lease.mu.Lock()
	defer j.lease.mu.Unlock()
	j.lease.asked = time.Now().Add(-time.Hour)
}

func refusedBy(t *testing.T, err error, executor string) {
	t.Helper()
	var elsewhere *ElsewhereError
	if !errors.As(err, &elsewhere) || elsewhere.Executor != executor || !elsewhere.Until.After(time.Now()) {
		t.Fatalf("not refused for the sake of %s: %v", executor, err)
	}
}

func TestARunIsTakenOverOnlyFromTheDeadWhoThenActNoMore(t *testing.T) {
	t.Parallel()
	a, b := hosts(t)
	here, there := open(t, a), open(t, b)
	if err := here.Create(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan *Journal), make(chan struct{})
	var confirmed error
	sleeper := execute(t, here, func(ctx context.Context, j *Journal) error {
		if _, err := j.Append(json.RawMessage(`"here"`)); err != nil {
			return err
		}
		if err := j.Confirm(ctx); err != nil {
			return err
		}
		begun <- j
		<-goOn
		confirmed = j.Confirm(ctx)
		_, err := j.Append(json.RawMessage(`"too late"`))
		return err
	})
	if err := sleeper.Start(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	j := <-begun
	other := execute(t, there, upTo(2))
	refusedBy(t, other.Start(t.Context(), "r", nil), here.Name())
	if r, err := there.Run(t.Context(), "r"); err != nil || r.Sessions != 1 || r.Executor != here.Name() {
		t.Errorf("the refused one left its mark: %+v, %v", r, err)
	}
	if e, err := there.Elsewhere(t.Context(), "r"); err != nil || e == nil || e.Executor != here.Name() {
		t.Errorf("seen from there: %+v, %v", e, err)
	}
	if e, err := here.Elsewhere(t.Context(), "r"); err != nil || e != nil {
		t.Errorf("seen from here: %+v, %v", e, err)
	}
	asleep(t, j)
	if e, err := there.Elsewhere(t.Context(), "r"); err != nil || e != nil {
		t.Errorf("of the dead: %+v, %v", e, err)
	}
	if err := errors.Join(other.Start(t.Context(), "r", nil), other.Wait(t.Context(), "r")); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if err := sleeper.Wait(t.Context(), "r"); !errors.Is(err, ErrTakenOver) || !errors.Is(confirmed, ErrTakenOver) {
		t.Errorf("the one that was taken over: to act %v, to write %v", confirmed, err)
	}
	entries, err := there.Entries(t.Context(), "r")
	if err != nil || len(entries) != 2 || entries[1].Session != 2 || VerifyChain(entries) != nil {
		t.Errorf("entries %+v, %v", entries, err)
	}
	if err := errors.Join(sleeper.Close(t.Context()), other.Close(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestAStintThatWasTakenOverIsEndedInTheMiddleOfItsWork(t *testing.T) {
	t.Parallel()
	a, b := hosts(t)
	here, there := open(t, a), open(t, b)
	if err := here.Create(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	begun := make(chan *Journal)
	sleeper := execute(t, here, func(ctx context.Context, j *Journal) error {
		begun <- j
		<-ctx.Done()
		return context.Cause(ctx)
	})
	if err := sleeper.Start(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	j := <-begun
	asleep(t, j)
	other := execute(t, there, upTo(1))
	if err := errors.Join(other.Start(t.Context(), "r", nil), other.Wait(t.Context(), "r")); err != nil {
		t.Fatal(err)
	}
	awake(j)
	limit, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := sleeper.Wait(limit, "r"); !errors.Is(err, ErrTakenOver) {
		t.Errorf("it ended with %v", err)
	}
	if err := errors.Join(sleeper.Close(t.Context()), other.Close(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestWhoLivesKeepsItsRun(t *testing.T) {
	t.Parallel()
	a, b := hosts(t)
	here, there := open(t, a), open(t, b)
	if err := here.Create(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	begun, over := make(chan *Journal), make(chan struct{})
	e := execute(t, here, func(_ context.Context, j *Journal) error {
		begun <- j
		<-over
		return nil
	})
	if err := e.Start(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	j := <-begun
	asleep(t, j)
	awake(j)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); ; {
		if seen, err := there.Elsewhere(t.Context(), "r"); err != nil {
			t.Fatal(err)
		} else if seen != nil {
			break
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it never prolonged its lease")
		}
	}
	// One that stops gives its run back: nobody waits for it to be dead.
	close(over)
	if err := errors.Join(e.Wait(t.Context(), "r"), e.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	other := execute(t, there, upTo(1))
	if err := errors.Join(other.Start(t.Context(), "r", nil), other.Wait(t.Context(), "r"), other.Close(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestARunOfAKilledProcessGoesOnAtOnceWhereItDiedAndElsewhereWhenThatIsKnown(t *testing.T) {
	t.Parallel()
	a, b := hosts(t)
	if err := runChild(t, a, 3, false); err == nil {
		t.Fatal("the child was not killed")
	}
	here, there := open(t, a), open(t, b)
	other := execute(t, there, upTo(4))
	refusedBy(t, other.Start(t.Context(), "r", nil), here.Name())
	// A process of the other host has taken it, and not yet closed the session that was cut off.
	if _, err := there.db.exec(t.Context(), `UPDATE {leases} SET holder = ? WHERE name = ?`, there.Name(), executorLeaseName("r")); err != nil {
		t.Fatal(err)
	}
	e := execute(t, here, upTo(childEntries))
	refusedBy(t, e.Wait(t.Context(), "r"), there.Name())
	if entries, err := here.Entries(t.Context(), "r"); err != nil || len(entries) != 3 || len(e.Continued()) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Start(t.Context(), "r", nil), other.Wait(t.Context(), "r"), other.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	e = execute(t, here, upTo(childEntries))
	if len(e.Continued()) != 0 {
		t.Errorf("continued %v", e.Continued())
	}
	if err := errors.Join(e.Start(t.Context(), "r", nil), e.Wait(t.Context(), "r"), e.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if entries, err := here.Entries(t.Context(), "r"); err != nil || len(entries) != childEntries || VerifyChain(entries) != nil {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestWhatAKilledProcessLeftIsTakenUpByNoOtherHost(t *testing.T) {
	t.Parallel()
	a, b := hosts(t)
	if err := runChild(t, a, 3, false); err == nil {
		t.Fatal("the child was not killed")
	}
	here, there := open(t, a), open(t, b)
	// The next process here was killed too, when it had just handed the session to whoever executes.
	n, err := here.db.exec(t.Context(), `UPDATE plimsoll.workflow_status SET status = 'ENQUEUED', queue_name = '_dbos_internal_queue'
		WHERE workflow_uuid = ?`, sessionID("r", 1))
	if n != 1 || err != nil {
		t.Fatalf("%d sessions, %v", n, err)
	}
	taken := make(chan struct{}, 1)
	other := execute(t, there, func(context.Context, *Journal) error {
		taken <- struct{}{}
		return nil
	})
	look := time.NewTimer(4 * time.Second) // the library looks every second
	defer look.Stop()
	select {
	case <-taken:
		t.Fatal("another host took it up")
	case <-look.C:
	}
	if r, err := there.Run(t.Context(), "r"); err != nil || r.Executor != here.Name() {
		t.Errorf("executed by %s, %v", r.Executor, err)
	}
	e := execute(t, here, upTo(childEntries))
	if err := errors.Join(e.Wait(t.Context(), "r"), e.Close(t.Context()), other.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if entries, err := here.Entries(t.Context(), "r"); err != nil || len(entries) != childEntries {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}
