package run

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/progress"
)

// records are what a trial writes down while it runs and shows to whoever watches: all that its cells leave.
type records struct {
	watching  sync.Mutex // the observer is told one thing at a time
	observer  progress.Observer
	log       *slog.Logger
	folder    *result.Writer
	recording judge.Recording
	at        string // where the trial is: cell, round and phase
	notes     []string
	invalid   []string
	doubts    doubts // about the load generator in phases in which nothing was done to the cluster
	admitted  doubts // and in changes
}

func (r *records) observe(u progress.Update) {
	r.watching.Lock()
	defer r.watching.Unlock()
	if r.observer != nil {
		r.observer.Observe(u)
	}
}

// happened books an event in the result and shows it.
func (r *records) happened(e series.Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	r.watching.Lock()
	r.recording.KeepEvent(e)
	r.watching.Unlock()
	if err := r.folder.Event(e); err != nil {
		r.log.Warn("event not written", "kind", e.Kind, "error", err)
	}
	r.observe(progress.Happened{Event: e})
}

// note adds something that a reader of the result should know, once.
func (r *records) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// invalidate adds a reason why the measurement itself is not to be believed.
func (r *records) invalidate(format string, args ...any) {
	r.invalid = append(r.invalid, fmt.Sprintf(format, args...))
}
