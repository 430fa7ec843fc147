package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"plimsoll/report"
	"plimsoll/trial/progress"
)

// Runner runs a trial of a file and writes its result folder, of which it returns the path; "" if there is none.
type Runner func(ctx context.Context, file string, quick bool, watch progress.Observer) (dir string, err error)

// bench runs one trial at a time: two would disturb each other's measurement.
type bench struct {
	run    Runner
	log    *slog.Logger
	folder string

	ctx  context.Context
	end  context.CancelFunc
	all  sync.WaitGroup
	mu   sync.Mutex
	last *running
}

// running is a trial that was begun here.
type running struct {
	file, by string
	quick    bool
	began    time.Time
	watched  *report.Watched
	stop     context.CancelFunc
	over     bool
	dir      string
	err      error
}

// liveTrial is a trial that runs, or the last that did.
type liveTrial struct {
	File    string      `json:"file"`
	Quick   bool        `json:"quick"`
	By      string      `json:"by"`
	Began   time.Time   `json:"began"`
	Over    bool        `json:"over"`
	Trouble string      `json:"trouble,omitempty"`
	Hint    string      `json:"hint,omitempty"`
	Result  string      `json:"result,omitempty"` // address of its page
	Look    report.Look `json:"look"`
	Command string      `json:"command"`
}

func newBench(ctx context.Context, t Trials, log *slog.Logger) *bench {
	b := &bench{run: t.Run, log: log, folder: t.Folder}
	b.ctx, b.end = context.WithCancel(context.WithoutCancel(ctx))
	return b
}

// begin runs a trial, unless one runs.
func (b *bench) begin(file, by string, quick bool, now func() time.Time, happened func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last != nil && !b.last.over {
		return &busyTrial{b.last.file}
	}
	ctx, stop := context.WithCancel(b.ctx)
	one := &running{file: file, by: by, quick: quick, began: now(), watched: report.NewWatched(now), stop: stop}
	b.last = one
	b.all.Go(func() {
		defer stop()
		dir, err := b.run(ctx, file, quick, one.watched)
		if err != nil && !errors.Is(err, context.Canceled) {
			b.log.Error("trial", "file", file, "error", err)
		}
		b.mu.Lock()
		one.over, one.dir, one.err = true, dir, err
		b.mu.Unlock()
		happened()
	})
	return nil
}

// busyTrial refuses a second trial.
type busyTrial struct{ file string }

func (e *busyTrial) Error() string { return "a trial is already running: " + e.file }

// Hint says what to do.
func (e *busyTrial) Hint() string {
	return "wait for it, or stop it: two trials would disturb each other"
}

// stop ends the trial that runs; what it measured is kept.
func (b *bench) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last != nil {
		b.last.stop()
	}
}

// now is the trial that runs, or the last that did; nil: none was begun here.
func (b *bench) now() *liveTrial {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		return nil
	}
	one := b.last
	l := &liveTrial{File: one.file, Quick: one.quick, By: one.by, Began: one.began, Over: one.over, Look: one.watched.Look()}
	words := []any{"plimsoll", "trial", "run", one.file}
	if one.quick {
		words = append(words, "--quick")
	}
	l.Command = command(words...)
	if name, err := filepath.Rel(b.folder, one.dir); one.over && one.dir != "" && err == nil {
		l.Result = "/trials/result/" + filepath.ToSlash(name)
	}
	if one.err != nil {
		l.Trouble, l.Hint = one.err.Error(), hintOf(one.err)
	}
	return l
}

func (b *bench) close() {
	b.end()
	b.all.Wait()
}

// beginTrial begins a trial of one of the files that the page lists.
func (s trialHandlers) beginTrial(w http.ResponseWriter, r *http.Request) error {
	file := r.PostFormValue("file")
	if !slices.Contains(s.Trials.Files(), file) {
		return &badRequest{"there is no trial " + file + " to start here", "trials are files named trial.yaml below the folder in which plimsoll serve runs"}
	}
	if err := s.running.begin(file, s.as(r).User, r.PostFormValue("quick") != "", s.Now, s.live.happened); err != nil {
		return err
	}
	http.Redirect(w, r, "/trials/live", http.StatusSeeOther)
	return nil
}

func (s trialHandlers) stopTrial(w http.ResponseWriter, r *http.Request) error {
	s.running.stop()
	http.Redirect(w, r, "/trials/live", http.StatusSeeOther)
	return nil
}

func (s trialHandlers) liveTrial(w http.ResponseWriter, r *http.Request) error {
	l := s.running.now()
	if l == nil {
		return &badRequest{"no trial was started here", "start one on the page Trials"}
	}
	s.show(w, r, http.StatusOK, "trial", l)
	return nil
}
