// Package durable keeps runs: journals of entries that survive the death of whoever writes them, and what belongs to
// them. It knows nothing of what the entries say.
//
// It is the only package that knows the library for durable execution; docs/decisions/021 says what is used of it.
package durable

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

var (
	// ErrNoRun says that there is no run of that name.
	ErrNoRun = errors.New("no such run")
	// ErrBusy says that another process executes runs on this state folder.
	ErrBusy = errors.New("another process executes runs on this state folder")
)

// Store is a place where runs are kept. It is safe for concurrent use, by several processes too.
type Store struct {
	options Options
	db      *database
	runtime dbos.Context // not launched: it reads
	name    string       // of this state folder, as an executor
	file    os.FileInfo  // of the SQLite file as it was opened; nil on Postgres
}

// Open opens the store, makes it if there is none, and brings one of an older release up.
func Open(ctx context.Context, o Options) (*Store, error) {
	forgetEnvironment()
	db, err := openDatabase(ctx, o)
	if err != nil {
		return nil, o.plainly(err)
	}
	s := &Store{options: o, db: db}
	if err := s.prepare(ctx); err != nil {
		db.close()
		return nil, o.plainly(err)
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	// Two processes that begin on an empty folder would both make the library's tables.
	if err := os.MkdirAll(s.options.Folder, 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	release, err := flock(ctx, filepath.Join(s.options.Folder, "opening.lock"))
	if err != nil {
		return err
	}
	defer release()
	if err := s.db.upgrade(ctx); err != nil {
		return err
	}
	if !s.shared() {
		if s.file, err = os.Stat(s.path()); err != nil {
			return fmt.Errorf("open the store: %w", err)
		}
	}
	if s.name, err = executorName(s.options); err != nil {
		return err
	}
	s.runtime, err = openRuntime(context.WithoutCancel(ctx), s)
	return err
}

// versionOf is by which the library tells whose sessions it may take up. It hands what a process left that died to any that executes
// with the same version, on whichever host: a state folder of a shared store has one of its own.
func versionOf(s *Store) string {
	if s.shared() {
		return s.options.Version + "@" + s.name
	}
	return s.options.Version
}

// shared tells whether other hosts may execute runs of this store.
func (s *Store) shared() bool { return s.db.pool != nil }

// Close releases the store.
func (s *Store) Close() error {
	err := dbos.Shutdown(s.runtime, time.Second)
	s.db.close()
	return err
}

func openRuntime(ctx context.Context, s *Store) (dbos.Context, error) {
	c := dbos.Config{
		AppName:            "plimsoll",
		ApplicationVersion: versionOf(s),
		ExecutorID:         s.name,
		DatabaseSchema:     schema,
		Logger:             s.options.logger(),
		// Schedules are not used: look for them as seldom as can be.
		SchedulerPollingInterval: 24 * time.Hour,
	}
	db, err := openDatabase(ctx, s.options) // a handle of its own: the library closes it
	if err != nil {
		return nil, err
	}
	if db.pool != nil {
		c.SystemDBPool = db.pool
	} else {
		c.SQLiteSystemDB = db.DB
	}
	l, err := dbos.NewContext(ctx, c)
	if err != nil {
		db.close()
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return l, nil
}

// Run is what the store knows of a run without reading its journal.
type Run struct {
	ID       string
	Created  time.Time
	Executor string // the state folder that executes it, or did last
	Sessions int
	Header   json.RawMessage // as given to Create
	Summary  json.RawMessage // the last one told, nil if none was
	Told     time.Time       // when
}

const runColumns = `SELECT r.run, r.created, r.executor, r.stints, r.header, COALESCE(s.data, ''), COALESCE(s.at, 0)
	FROM {runs} r LEFT JOIN {summaries} s ON s.run = r.run`

type scanner interface{ Scan(into ...any) error }

func scanRun(row scanner) (Run, error) {
	var r Run
	var created, told int64
	var header, summary string
	if err := row.Scan(&r.ID, &created, &r.Executor, &r.Sessions, &header, &summary, &told); err != nil {
		return r, err
	}
	r.Created, r.Header = time.UnixMicro(created), json.RawMessage(header)
	if summary != "" {
		r.Summary, r.Told = json.RawMessage(summary), time.UnixMicro(told)
	}
	return r, nil
}

// Create adds a run. Its journal is empty until somebody executes it.
func (s *Store) Create(ctx context.Context, id string, header json.RawMessage) error {
	_, err := s.db.exec(ctx, `INSERT INTO {runs} (run, created, executor, header) VALUES (?, ?, ?, ?)`,
		id, time.Now().UnixMicro(), s.name, string(header))
	if err != nil {
		return fmt.Errorf("add the run: %w", err)
	}
	return nil
}

// Runs lists all runs, the newest first.
func (s *Store) Runs(ctx context.Context) ([]Run, error) {
	var runs []Run
	err := s.db.each(ctx, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		runs = append(runs, r)
		return err
	}, runColumns+` ORDER BY r.created DESC`)
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	return runs, nil
}

// Run returns one run, ErrNoRun if there is none of that name.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	r, err := scanRun(s.db.row(ctx, runColumns+` WHERE r.run = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return r, noRun(ctx, s, id)
	}
	if err != nil {
		return r, fmt.Errorf("read run %s: %w", id, err)
	}
	return r, nil
}

// noRun is ErrNoRun, with the run of the store that was meant.
func noRun(ctx context.Context, s *Store, id string) error {
	advice := "plimsoll runbook status lists them"
	if runs, err := s.Runs(ctx); err == nil {
		names := make([]string, len(runs))
		for n, r := range runs {
			names[n] = r.ID
		}
		if len(runs) == 0 && !s.shared() {
			advice = "this account has no runs here. Each account, and each $PLIMSOLL_HOME, has its own: ask the person who began the run, or open their plimsoll serve"
		}
		if near := document.Nearest(id, names); near != "" {
			advice = fmt.Sprintf("did you mean %q? plimsoll runbook status lists them", near)
		}
	}
	return hint.With(fmt.Errorf("%s: %w", id, ErrNoRun), advice)
}

// Entries returns a run's journal.
func (s *Store) Entries(ctx context.Context, id string) ([]Entry, error) {
	all, _, err := s.EntriesAfter(ctx, id, Read{}, 0)
	return all, err
}

// reading is the library under a caller's context.
func (s *Store) reading(ctx context.Context) dbos.Context { return dbos.From(s.runtime, outside{ctx}) }

// outside is a context by which the library cannot tell that it is a session's: in one it would journal whatever it is asked as an
// entry more, which nobody could read.
type outside struct{ context.Context }

func (outside) Value(any) any { return nil }

func decodeEntry(output any) (Entry, error) {
	var e Entry
	text, ok := output.(string)
	if !ok {
		return e, fmt.Errorf("unexpected form %T", output)
	}
	// The listing hands a text on as the JSON it was stored as.
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal([]byte(text), &text); err != nil {
			return e, err
		}
	}
	return e, json.Unmarshal([]byte(text), &e)
}

// Tell keeps the run's summary for whoever looks at it from outside; it is no part of the journal.
func (s *Store) Tell(ctx context.Context, id string, summary json.RawMessage) error {
	_, err := s.db.exec(ctx, `INSERT INTO {summaries} (run, at, data) VALUES (?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET at = excluded.at, data = excluded.data`, id, time.Now().UnixMicro(), string(summary))
	if err != nil {
		return fmt.Errorf("notify about run %s: %w", id, err)
	}
	return nil
}
