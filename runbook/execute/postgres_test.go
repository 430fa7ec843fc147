package execute

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/durable/durabletest"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// hosts are two state folders of one Postgres, whose runbooks change one folder.
func hosts(t *testing.T, postgres string) (here, there *bench) {
	t.Helper()
	here = newBenchWith(t, durable.Options{Folder: t.TempDir(), Postgres: postgres, Version: journal.Interpreter})
	there = newBenchWith(t, durable.Options{Folder: t.TempDir(), Postgres: postgres, Version: journal.Interpreter})
	there.folder, there.User, there.Holder = here.folder, "bob", "bob@there"
	here.Holder = "ann@here"
	return here, there
}

// silent lets whoever executes a run count as dead.
func silent(t *testing.T, postgres, run string) {
	t.Helper()
	db, err := sql.Open("pgx", postgres)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `UPDATE plimsoll.plimsoll_leases SET expires = 0 WHERE name = $1`, "run "+run); err != nil {
		t.Fatal(err)
	}
}

// takeOver executes a session of a run whose executor sleeps elsewhere.
func (b *bench) takeOver(postgres, run string, o journal.Command) *journal.State {
	b.t.Helper()
	e, err := b.Execute(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	var elsewhere *ElsewhereError
	for err = b.Start(b.t.Context(), e, run, o); errors.As(err, &elsewhere); err = b.Start(b.t.Context(), e, run, o) {
		silent(b.t, postgres, run) // again, if it has shown since that it lives
	}
	if err := errors.Join(err, e.Wait(b.t.Context(), run), e.Close(b.t.Context())); err != nil {
		b.t.Fatal(err)
	}
	return b.stateOf(run)
}

// lone is a step that acts and can be taken back; LOCK is the runbook's lock.
const lone = `
runbook: test/lone
lock: LOCK
steps:
  - {id: a, uses: command, with: {run: "echo HOST >> DIR/log", check: "test -e DIR/log", undo: "echo undone by HOST >> DIR/log", repeatable: true}}
`

func TestARunThatIsAliveElsewhereIsNotTakenOver(t *testing.T) {
	t.Parallel()
	postgres := durabletest.Postgres(t)
	for _, lock := range []string{"cluster", "none"} {
		t.Run(lock, func(t *testing.T) {
			here, there := hosts(t, postgres)
			begun, goOn := make(chan struct{}), make(chan struct{})
			here.Between = func(ctx context.Context, task action.Task, on *cluster.Cluster, c action.Call) (action.Facts, error) {
				close(begun)
				<-goOn
				return task.Act(ctx, on, c)
			}
			run := here.begin(Request{Book: here.parse(strings.Replace(lone, "LOCK", lock, 1)), Cluster: "lab-" + lock})
			e, err := here.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := here.Start(t.Context(), e, run, journal.Command{Do: "run"}); err != nil {
				t.Fatal(err)
			}
			<-begun
			before := here.stateOf(run).Events
			other, err := there.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range []journal.Command{{Do: "resume"}, {Do: "rerun", Step: "a"}, {Do: "cancel", Undo: true}, {Do: "cancel"}} {
				err := there.Start(t.Context(), other, run, o)
				var elsewhere *ElsewhereError
				if !errors.As(err, &elsewhere) || elsewhere.By != "ann@here" || elsewhere.Since.IsZero() || elsewhere.Until.IsZero() ||
					!strings.Contains(err.Error(), "executed by ann@here, since ") || !strings.Contains(elsewhere.Hint(), "stop it there") {
					t.Errorf("%s: %v", o.Do, err)
				}
			}
			if who, err := there.Elsewhere(t.Context(), run); err != nil || who == nil || who.By != "ann@here" {
				t.Errorf("executed elsewhere: %v, %v", who, err)
			}
			if who, err := here.Elsewhere(t.Context(), run); err != nil || who != nil {
				t.Errorf("executed elsewhere, seen from where it is: %v, %v", who, err)
			}
			close(goOn)
			if err := errors.Join(e.Wait(t.Context(), run), e.Close(t.Context()), other.Close(t.Context())); err != nil {
				t.Fatal(err)
			}
			if st := here.stateOf(run); st.Outcome != journal.RunDone || here.read("log") != "HOST\n" || st.Events <= before {
				t.Errorf("outcome %q, log %q", st.Outcome, here.read("log"))
			}
			// It is nobody's now: the other host may run its step again.
			if st := there.runSession(run, journal.Command{Do: "rerun", Step: "a"}); st.Outcome != journal.RunDone || st.Holder != "bob@there" {
				t.Errorf("outcome %q, by %s", st.Outcome, st.Holder)
			}
		})
	}
}

func TestWhoWakesAfterItsRunWasTakenOverActsNoMore(t *testing.T) {
	t.Parallel()
	postgres := durabletest.Postgres(t)
	for _, c := range []struct {
		name, lock, log string
		after           journal.Kind    // it falls asleep
		here            journal.Command // what it does then
		there           journal.Command
	}{
		{"before an act", "none", "bob\n", journal.Intended, journal.Command{Do: "run"}, journal.Command{Do: "resume"}},
		{"before an act, with a lock", "cluster", "bob\n", journal.Intended, journal.Command{Do: "run"}, journal.Command{Do: "resume"}},
		{"before an undo", "none", "ann\nundone by bob\n", journal.Undoing, journal.Command{Do: "cancel", Undo: true}, journal.Command{Do: "resume"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			here, there := hosts(t, postgres)
			text := strings.NewReplacer("LOCK", c.lock, "HOST", "$(cat DIR/host)").Replace(lone)
			here.put("host", "ann")
			run := here.begin(Request{Book: here.parse(text), Cluster: "lab " + c.name})
			if c.after == journal.Undoing {
				here.runSession(run, journal.Command{Do: "run"})
			}
			asleep, awake := make(chan struct{}), make(chan struct{})
			here.Observe = func(_ string, e journal.Event, _ time.Time) {
				if e.Kind == c.after {
					close(asleep)
					<-awake
				}
			}
			e, err := here.Execute(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := here.Start(t.Context(), e, run, c.here); err != nil {
				t.Fatal(err)
			}
			<-asleep
			here.put("host", "bob")
			there.takeOver(postgres, run, c.there)
			here.put("host", "ann")
			before := len(there.events(run, journal.Began, journal.Opened, journal.Intended, journal.Acted, journal.Undoing, journal.Undone, journal.Failed, journal.Stuck, journal.Parked, journal.Ended))
			close(awake)
			if err := e.Wait(t.Context(), run); !errors.Is(err, durable.ErrTakenOver) {
				t.Errorf("its session ended with %v", err)
			}
			if err := e.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if here.read("log") != c.log {
				t.Errorf("log %q, want %q", here.read("log"), c.log)
			}
			if after := len(there.events(run, journal.Began, journal.Opened, journal.Intended, journal.Acted, journal.Undoing, journal.Undone, journal.Failed, journal.Stuck, journal.Parked, journal.Ended)); after != before {
				t.Errorf("it wrote %d events more", after-before)
			}
		})
	}
}

// TestARunOverPostgres begins it in a process that is killed in the middle of an act, goes on where it died, has it approved from
// another host, and gives everything back.
func TestARunOverPostgres(t *testing.T) {
	postgres := durabletest.Postgres(t)
	here, there := hosts(t, postgres)
	t.Setenv("RUNBOOK_POSTGRES", postgres)
	t.Setenv("RUNBOOK_BOOK", strings.Replace(asking, `run: "touch DIR/a"`, `run: "echo acted >> DIR/a"`, 1))
	const acted = 6 // began, opened, and of the first step: valued, checked, intended
	if !spawn(t, here.state, here.folder, acted, true) {
		t.Fatal("it was not killed")
	}
	runs, err := there.Store.Runs(t.Context())
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	run := runs[0].ID
	if here.read("a") != "acted\n" || len(here.events(run, journal.Acted)) != 0 {
		t.Fatal("it was not killed between its act and the word of it")
	}
	lease, err := there.Store.Lease(t.Context(), lock.LeaseName("lab1"))
	if err != nil || lease.Holder != run {
		t.Errorf("the cluster is held by %q, %v", lease.Holder, err)
	}
	e, err := here.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := e.Continued(); len(c) != 1 || c[0] != run {
		t.Fatalf("continued %v", c)
	}
	there.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
	for _, who := range []string{"bob", "cid"} {
		there.User = who
		if err := there.Tell(t.Context(), run, journal.Message{Say: "approve", Plan: there.stateOf(run).Header.Plan.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(e.Wait(t.Context(), run), e.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if st := there.stateOf(run); st.Outcome != journal.RunDone || here.read("a") != "acted\n" || len(there.events(run, journal.Approved)) != 2 {
		t.Errorf("outcome %q, acts %q, approved %+v", st.Outcome, here.read("a"), there.events(run, journal.Approved))
	}
	if o := there.events(run, journal.Opened); len(o) != 2 || o[1].Epochs["lab1"] <= o[0].Epochs["lab1"] {
		t.Errorf("opened %+v", o)
	}
	entries, err := there.Store.Entries(t.Context(), run)
	if err != nil || durable.VerifyChain(entries) != nil {
		t.Errorf("its journal: %v, %v", durable.VerifyChain(entries), err)
	}
	for _, name := range []string{lock.LeaseName("lab1"), "run " + run} {
		if lease, err := there.Store.Lease(t.Context(), name); err != nil || lease.Holder != "" || lease.Epoch < 2 {
			t.Errorf("%s is held: %+v, %v", name, lease, err)
		}
	}
	if _, err := os.Stat(here.state + "/runs.db"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a SQLite file beside Postgres: %v", err)
	}
}
