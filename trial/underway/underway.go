// Package underway keeps which trials are being executed, in the state folder, so that one whose process has died is told from one that runs.
package underway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"plimsoll/infra"
)

// Trial is a trial that has begun and not ended.
type Trial struct {
	Name    string    `json:"name"`
	Dir     string    `json:"dir"` // of its result, absolute
	Began   time.Time `json:"began"`
	Process int       `json:"process"`
	Labs    []string  `json:"labs,omitempty"` // the clusters that it makes
	Runs    []string  `json:"runs,omitempty"` // of runbooks
	Died    bool      `json:"-"`              // its process did
}

// Record is how a process writes down the trial that it executes. It is safe for concurrent use. A nil one writes nothing.
type Record struct {
	files  infra.Files
	path   string
	unlock func() error

	mu    sync.Mutex
	trial Trial
}

const (
	ending  = ".json"
	locking = ".lock"
)

func folder(home string) string { return path.Join(home, "trials") }

// Begin writes down that this process executes a trial.
func Begin(ctx context.Context, files infra.Files, home string, t Trial) (*Record, error) {
	t.Process = os.Getpid()
	r := &Record{files: files, trial: t, path: path.Join(folder(home), fmt.Sprintf("%s-%d", t.Began.UTC().Format("20060102T150405.000000000"), t.Process))}
	if err := files.MakeDir(ctx, folder(home)); err != nil {
		return nil, fmt.Errorf("keep which trials run: %w", err)
	}
	unlock, err := files.Lock(ctx, r.path+locking)
	if err != nil {
		return nil, fmt.Errorf("keep which trials run: %w", err)
	}
	r.unlock = unlock
	if err := r.write(ctx); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return r, nil
}

// Makes notes a cluster before it is made.
func (r *Record) Makes(ctx context.Context, lab string) error {
	return r.note(ctx, func(t *Trial) { t.Labs = append(t.Labs, lab) })
}

// Runs notes a run of a runbook before it takes its cluster.
func (r *Record) Runs(ctx context.Context, run string) error {
	return r.note(ctx, func(t *Trial) { t.Runs = append(t.Runs, run) })
}

// End says that the trial has ended.
func (r *Record) End(ctx context.Context) error {
	if r == nil {
		return nil
	}
	return errors.Join(r.files.Remove(ctx, r.path+ending), r.unlock())
}

func (r *Record) note(ctx context.Context, change func(*Trial)) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.trial)
	return r.write(ctx)
}

func (r *Record) write(ctx context.Context) error {
	data, err := json.Marshal(r.trial)
	if err == nil {
		err = r.files.WriteFile(ctx, r.path+ending, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep which trials run: %w", err)
	}
	return nil
}

// patience is how long a lock is tried: somebody else may just be looking at it.
const patience = 150 * time.Millisecond

// List lists the trials that have begun and not ended. Those that died and whose results were removed are forgotten.
func List(ctx context.Context, files infra.Files, home string) ([]Trial, error) {
	names, err := files.List(ctx, folder(home))
	if err != nil {
		return nil, fmt.Errorf("list the trials that run: %w", err)
	}
	var all []Trial
	for _, name := range names {
		name, is := strings.CutSuffix(name, ending)
		if !is {
			continue
		}
		t, err := read(ctx, files, path.Join(folder(home), name))
		if err != nil {
			continue // it has ended meanwhile, or another release writes it
		}
		if _, err := files.ReadFile(ctx, path.Join(t.Dir, "trial.yaml")); t.Died && errors.Is(err, os.ErrNotExist) {
			_ = files.Remove(ctx, path.Join(folder(home), name+ending)) // else it is tried again
			continue
		}
		all = append(all, t)
	}
	return all, nil
}

// read reads one record. Its process holds the lock as long as it lives.
func read(ctx context.Context, files infra.Files, at string) (t Trial, err error) {
	data, err := files.ReadFile(ctx, at+ending)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return t, fmt.Errorf("read %s: %w", at, err)
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	release, err := files.Lock(limited, at+locking)
	if errors.Is(err, infra.ErrLocked) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	// It may have ended since it was read: then its record is gone.
	if _, err := files.ReadFile(ctx, at+ending); err != nil {
		return t, errors.Join(err, release())
	}
	t.Died = true
	return t, release()
}
