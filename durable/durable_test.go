package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/durable/durabletest"
)

// stores runs a test on SQLite, and on a real Postgres where there is one.
func stores(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, Options{Folder: t.TempDir(), Version: "1"}) })
	t.Run("postgres", func(t *testing.T) {
		test(t, Options{Folder: t.TempDir(), Postgres: durabletest.Postgres(t), Version: "1"})
	})
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func execute(t *testing.T, s *Store, work Work) *Executor {
	t.Helper()
	e, err := s.Execute(t.Context(), work)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// upTo appends numbers until the journal has n entries.
func upTo(n int) Work {
	return func(_ context.Context, j *Journal) error {
		for len(j.Entries()) < n {
			if _, err := j.Append(json.RawMessage(strconv.Itoa(len(j.Entries()) + 1))); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestAJournalGrowsOverStints(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, o Options) {
		s := open(t, o)
		if err := s.Create(t.Context(), "r", json.RawMessage(`{"a":1}`)); err != nil {
			t.Fatal(err)
		}
		n := 2
		var orders []string
		e := execute(t, s, func(ctx context.Context, j *Journal) error {
			orders = append(orders, string(j.Order()))
			return upTo(n)(ctx, j)
		})
		for _, n = range []int{2, 5} {
			if err := e.Start(t.Context(), "r", json.RawMessage(`"order `+strconv.Itoa(n)+`"`)); err != nil {
				t.Fatal(err)
			}
			if err := e.Wait(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		entries, err := s.Entries(t.Context(), "r")
		if err != nil || len(entries) != 5 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		if err := VerifyChain(entries); err != nil {
			t.Error(err)
		}
		if entries[1].Session != 1 || entries[2].Session != 2 || string(entries[4].Data) != "5" {
			t.Errorf("entries %+v", entries)
		}
		if got := strings.Join(orders, ","); got != `"order 2","order 5"` {
			t.Errorf("orders %s", got)
		}
		entries[2].Data = json.RawMessage("9")
		if VerifyChain(entries) == nil {
			t.Error("a changed entry was accepted")
		}
	})
}

// Who works on a run looks at others, and at whether they are executed: nothing of it gets into the journal.
func TestWhatAStintReadsIsNotWritten(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, o Options) {
		s := open(t, o)
		for _, run := range []string{"other", "r"} {
			if err := s.Create(t.Context(), run, json.RawMessage(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		e := execute(t, s, func(ctx context.Context, j *Journal) error {
			if err := upTo(2)(ctx, j); err != nil || j.Run() == "other" {
				return err
			}
			if entries, err := s.Entries(ctx, "other"); err != nil || len(entries) != 2 {
				return fmt.Errorf("%d entries of the other, %w", len(entries), err)
			}
			if is, err := s.Executes(ctx, "r"); err != nil || !is {
				return fmt.Errorf("it is executed: %v, %w", is, err)
			}
			return upTo(3)(ctx, j)
		})
		for _, run := range []string{"other", "r"} {
			if err := e.Start(t.Context(), run, json.RawMessage("1")); err != nil {
				t.Fatal(err)
			}
			if err := e.Wait(t.Context(), run); err != nil {
				t.Error(err)
			}
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if entries, err := s.Entries(t.Context(), "r"); err != nil || len(entries) != 3 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
	})
}

// TestMain is also the child process that TestKilled kills.
func TestMain(m *testing.M) {
	if folder := os.Getenv("DURABLE_CHILD"); folder != "" {
		child(folder)
		return
	}
	os.Exit(m.Run())
}

const childEntries = 6

func child(folder string) {
	kill, _ := strconv.Atoi(os.Getenv("DURABLE_KILL"))
	before := os.Getenv("DURABLE_BEFORE") != ""
	o := Options{Folder: folder, Postgres: os.Getenv("DURABLE_POSTGRES"), Version: "1", Written: func(m Moment) {
		if m.Number == kill && m.Before == before {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	err := func() error {
		ctx := context.Background()
		s, err := Open(ctx, o)
		if err != nil {
			return err
		}
		e, err := s.Execute(ctx, upTo(childEntries))
		if err != nil {
			return err
		}
		if len(e.Continued()) == 0 {
			if err := s.Create(ctx, "r", nil); err != nil {
				return err
			}
			if err := e.Start(ctx, "r", nil); err != nil {
				return err
			}
		}
		if err := e.Wait(ctx, "r"); err != nil {
			return err
		}
		return errors.Join(e.Close(ctx), s.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runChild(t *testing.T, o Options, kill int, before bool) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "DURABLE_CHILD="+o.Folder, "DURABLE_POSTGRES="+o.Postgres, "DURABLE_KILL="+strconv.Itoa(kill))
	if before {
		cmd.Env = append(cmd.Env, "DURABLE_BEFORE=1")
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) > 0 {
		t.Logf("child: %s", out)
	}
	return err
}

func TestKilledAroundEveryWriteTheJournalGoesOn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	stores(t, func(t *testing.T, o Options) {
		folder := o.Folder
		for kill := 1; kill <= childEntries; kill++ {
			for _, before := range []bool{true, false} {
				if o.Postgres != "" { // one server for all: a database each
					o.Postgres = durabletest.Database(t, o.Postgres)
				}
				o.Folder = filepath.Join(folder, fmt.Sprint(kill, before))
				var exit *exec.ExitError
				if err := runChild(t, o, kill, before); !errors.As(err, &exit) || exit.ExitCode() != -1 {
					t.Fatalf("killed at %d: the child ended with %v", kill, err)
				}
				if err := runChild(t, o, 0, false); err != nil {
					t.Fatalf("killed at %d: %v", kill, err)
				}
				s := open(t, o)
				entries, err := s.Entries(t.Context(), "r")
				if err != nil || len(entries) != childEntries || VerifyChain(entries) != nil {
					t.Errorf("killed at %d (before %v): %d entries, %v, %v", kill, before, len(entries), err, VerifyChain(entries))
				}
			}
		}
	})
}

func TestOneProcessExecutes(t *testing.T) {
	t.Parallel()
	o := Options{Folder: t.TempDir(), Version: "1"}
	s := open(t, o)
	e := execute(t, s, upTo(1))
	if _, err := open(t, o).Execute(t.Context(), upTo(1)); !errors.Is(err, ErrBusy) {
		t.Errorf("a second executor: %v", err)
	}
	if busy, err := s.Executed(); err != nil || !busy {
		t.Errorf("executed %v, %v", busy, err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if busy, _ := s.Executed(); busy {
		t.Error("still executed after the end")
	}
}

func TestEveryConnectionToTheFileSyncsEachWrite(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Folder: t.TempDir(), Version: "1"})
	library, err := openDatabase(t.Context(), s.options) // as the library's own is opened
	if err != nil {
		t.Fatal(err)
	}
	defer library.close()
	for name, db := range map[string]*database{"ours": s.db, "the library's": library} {
		for range 3 { // held until the end: each is another connection
			c, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			var synchronous int
			var journal string
			if err := errors.Join(c.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&synchronous),
				c.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&journal)); err != nil {
				t.Fatal(err)
			}
			const full = 2 // https://www.sqlite.org/pragma.html#pragma_synchronous
			if synchronous != full || journal != "wal" {
				t.Errorf("%s: synchronous %d, journal mode %s", name, synchronous, journal)
			}
		}
	}
}

func TestDrainingStopsAtABoundary(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Folder: t.TempDir(), Version: "1"})
	if err := s.Create(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	e := execute(t, s, func(_ context.Context, j *Journal) error {
		close(begun)
		<-j.Draining()
		_, err := j.Append(json.RawMessage(`"parked"`))
		return err
	})
	if err := e.Start(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if entries, err := s.Entries(t.Context(), "r"); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	// It came to its end by itself: nobody takes it up unasked.
	e = execute(t, s, upTo(9))
	if c := e.Continued(); len(c) != 0 {
		t.Errorf("continued %v", c)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestALeaseFencesItsFormerHolder(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, o Options) {
		s, ctx := open(t, o), t.Context()
		first, err := s.Acquire(ctx, "c", "a", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var held *HeldError
		if _, err := s.Acquire(ctx, "c", "b", time.Minute); !errors.As(err, &held) || held.Holder != "a" {
			t.Errorf("taken by a second: %v", err)
		}
		if _, err := s.Renew(ctx, first, time.Minute); err != nil {
			t.Errorf("renewed by its holder: %v", err)
		}
		again, err := s.Acquire(ctx, "c", "a", time.Minute)
		if err != nil || again.Epoch <= first.Epoch {
			t.Errorf("taken again: epoch %d after %d, %v", again.Epoch, first.Epoch, err)
		}
		if _, err := s.Renew(ctx, first, time.Minute); !errors.Is(err, ErrFenced) {
			t.Errorf("renewed at an old epoch: %v", err)
		}
		if err := s.Release(ctx, "c", "a"); err != nil {
			t.Fatal(err)
		}
		if other, err := s.Acquire(ctx, "c", "b", time.Minute); err != nil || other.Epoch <= again.Epoch {
			t.Errorf("after its release: %+v, %v", other, err)
		}
	})
}

func TestMessagesRecordsAndSummariesAreKept(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, o Options) {
		s, ctx := open(t, o), t.Context()
		if err := s.Send(ctx, "r", json.RawMessage(`1`)); !errors.Is(err, ErrNoRun) {
			t.Errorf("a message to nobody: %v", err)
		}
		if err := s.Create(ctx, "r", json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{`"a"`, `"b"`} {
			if err := errors.Join(s.Send(ctx, "r", json.RawMessage(text)), s.Keep(ctx, "timing", "x", json.RawMessage(text)),
				s.Tell(ctx, "r", json.RawMessage(text))); err != nil {
				t.Fatal(err)
			}
		}
		if m, err := s.Messages(ctx, "r", 1); err != nil || len(m) != 1 || string(m[0].Data) != `"b"` {
			t.Errorf("messages %v, %v", m, err)
		}
		if r, err := s.Records(ctx, "timing", "x"); err != nil || len(r) != 2 || string(r[0].Data) != `"a"` {
			t.Errorf("records %v, %v", r, err)
		}
		if r, err := s.Run(ctx, "r"); err != nil || string(r.Summary) != `"b"` {
			t.Errorf("run %+v, %v", r, err)
		}
	})
}

func TestANewerStoreIsRefusedInOneLine(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, o Options) {
		for _, text := range []string{`UPDATE {format} SET number = 99`, `library`} {
			o := o
			if o.Postgres == "" {
				o.Folder = t.TempDir()
			} else {
				o.Postgres = durabletest.Database(t, o.Postgres)
			}
			s, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if text == "library" {
				if text = `UPDATE dbos_migrations SET version = 9999`; o.Postgres != "" {
					text = `UPDATE plimsoll.dbos_migrations SET version = 9999`
				}
			}
			if _, err := s.db.exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = Open(t.Context(), o)
			var newer NewerError
			if !errors.As(err, &newer) || strings.Contains(err.Error(), "\n") {
				t.Errorf("after %s: %v", text, err)
			}
		}
	})
}

func TestRunsOfAnotherInterpreterAreLeftAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	o := Options{Folder: t.TempDir(), Version: "1"}
	if err := runChild(t, o, 3, false); err == nil {
		t.Fatal("the child was not killed")
	}
	o.Version = "2"
	e := execute(t, open(t, o), upTo(childEntries))
	if c := e.Continued(); len(c) != 0 {
		t.Errorf("continued %v", c)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherOrderTakesThePlaceOfAStintThatWasCutOff(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	stores(t, func(t *testing.T, o Options) {
		if err := runChild(t, o, 3, false); err == nil {
			t.Fatal("the child was not killed")
		}
		s := open(t, o)
		e, err := s.Execute(t.Context(), upTo(childEntries), "r")
		if err != nil {
			t.Fatal(err)
		}
		if c := e.Continued(); len(c) != 0 {
			t.Errorf("continued %v", c)
		}
		if entries, err := s.Entries(t.Context(), "r"); err != nil || len(entries) != 3 {
			t.Errorf("%d entries before the order, %v", len(entries), err)
		}
		if err := errors.Join(e.Start(t.Context(), "r", nil), e.Wait(t.Context(), "r"), e.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		entries, err := s.Entries(t.Context(), "r")
		if err != nil || len(entries) != childEntries || VerifyChain(entries) != nil || entries[2].Session != 1 || entries[3].Session != 2 {
			t.Errorf("entries %+v, %v, %v", entries, err, VerifyChain(entries))
		}
		e = execute(t, s, upTo(childEntries))
		if c := e.Continued(); len(c) != 0 {
			t.Errorf("continued after all: %v", c)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
