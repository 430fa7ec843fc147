package durable

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/durable/durabletest"
)

// written makes a run of five entries.
func written(t *testing.T, o Options) {
	t.Helper()
	s := open(t, o)
	if err := s.Create(t.Context(), "r", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	e := execute(t, s, upTo(5))
	if err := errors.Join(e.Start(t.Context(), "r", []byte(`{}`)), e.Wait(t.Context(), "r"), e.Close(t.Context()), s.Verify(t.Context(), "r")); err != nil {
		t.Fatal(err)
	}
}

func TestAJournalThatWasChangedIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, want string }{
		"changed":                  {"", "entry 3 was changed"},
		"one is missing":           {`DELETE FROM operation_outputs WHERE function_id = 2`, "entry 4 follows entry 2"},
		"the last is cut off":      {`DELETE FROM operation_outputs WHERE function_id = 4`, "5 entries were written, but 4 are there"},
		"all are gone":             {`DELETE FROM operation_outputs`, "5 entries were written, but 0 are there"},
		"changed with its own sum": {`UPDATE plimsoll_heads SET hash = 'x'`, "entry 5 was replaced"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Folder: t.TempDir(), Version: "1"}
			written(t, o)
			db, err := sql.Open("sqlite", filepath.Join(o.Folder, fileName))
			if err != nil {
				t.Fatal(err)
			}
			if c.change == "" {
				c.change = otherData(t, db)
			}
			result, err := db.ExecContext(t.Context(), c.change)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := result.RowsAffected(); n == 0 || err != nil {
				t.Fatalf("%d rows changed, %v", n, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			var altered *AlteredError
			if err := open(t, o).Verify(t.Context(), "r"); !errors.As(err, &altered) || !strings.Contains(altered.Why, c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// otherData is the statement that has the third entry say 7.
func otherData(t *testing.T, db *sql.DB) string {
	t.Helper()
	var output string
	if err := db.QueryRowContext(t.Context(), `SELECT output FROM operation_outputs WHERE function_id = 2`).Scan(&output); err != nil {
		t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(output)
	if err != nil {
		t.Fatal(err, output)
	}
	other := strings.Replace(string(text), `data\":3`, `data\":7`, 1)
	if other == string(text) {
		t.Fatal(other)
	}
	return "UPDATE operation_outputs SET output = '" + base64.StdEncoding.EncodeToString([]byte(other)) + "' WHERE function_id = 2"
}

// A journal that is removed or replaced under the process that writes it stops it before its next act.
func TestAJournalThatIsReplacedUnderARunStopsIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"removed":  os.Remove,
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		o := Options{Folder: t.TempDir(), Version: "1"}
		s := open(t, o)
		if err := s.Create(t.Context(), "r", []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		var found error
		e := execute(t, s, func(ctx context.Context, j *Journal) error {
			if _, err := j.Append([]byte("1")); err != nil {
				return err
			}
			if err := j.Confirm(ctx); err != nil {
				return fmt.Errorf("before: %w", err)
			}
			if err := change(filepath.Join(o.Folder, fileName)); err != nil {
				return err
			}
			found = j.Confirm(ctx)
			return nil
		})
		if err := errors.Join(e.Start(t.Context(), "r", []byte(`{}`)), e.Wait(t.Context(), "r")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = e.Close(t.Context()) // what it wrote is nowhere
		var altered *AlteredError
		if !errors.As(found, &altered) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestAPostgresThatRestartsIsWaitedFor(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		&pgconn.PgError{Code: "57P01"}: true, &pgconn.PgError{Code: "57P03"}: true, &pgconn.PgError{Code: "08006"}: true,
		&pgconn.PgError{Code: "53100"}: false, &pgconn.PgError{Code: "23505"}: false, syscall.ENOSPC: false, sql.ErrNoRows: false,
	} {
		if got := transient(fmt.Errorf("ask: %w", err)); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
	target := durabletest.Postgres(t)
	s := open(t, Options{Folder: t.TempDir(), Postgres: target, Version: "1"})
	if err := s.Create(t.Context(), "r", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	var ending sync.WaitGroup
	ending.Go(func() { // as a restart does, for a second
		for ctx.Err() == nil {
			_, _ = db.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
		}
	})
	lease, err := s.Acquire(t.Context(), "cluster c", "r", time.Minute)
	for range 100 {
		if err == nil {
			lease, err = s.Renew(t.Context(), lease, time.Minute)
		}
		if err == nil {
			_, err = s.Run(t.Context(), "r")
		}
		if err == nil {
			_, err = s.Messages(t.Context(), "r", 0)
		}
	}
	ending.Wait()
	if err != nil {
		t.Error(err)
	}
}
