package load

import (
	"context"
	"errors"
	"time"
)

// worker performs operations over one connection, one after another.
type worker struct {
	run      *run
	client   Client
	journal  journal
	proven   bool          // an operation has succeeded since the connection was opened
	lastDone time.Duration // when an operation last succeeded

	place // in an open loop
}

// closedLoop performs one operation after another until the run stops. What follows an operation at once starts when that
// ended, so that all of the worker's time is some operation's service time.
//
// While the connection is down, each failed attempt to re-open it counts as an operation that ended as an error: the
// outage shows in the errors, at a rate that the pauses between attempts bound.
func (w *worker) closedLoop(issue, work context.Context) {
	start := w.run.now()
	w.journal.begin(start)
	for start < w.run.stopAt() {
		end, connected := w.perform(work, start, start, 0)
		start = end
		if !connected {
			w.journal.begin(resting)
			w.run.lost.Add(1)
			back := w.reopen(issue, func(err error) {
				w.run.recorder.failed(w.client.Next(), classOf(err, ClassUnavailable), err.Error())
			})
			if !back {
				return
			}
			w.run.lost.Add(-1)
			start = w.run.now()
			w.journal.begin(start)
		}
	}
	w.journal.begin(resting)
}

// perform issues one operation and books it. It returns when the worker was free again, and whether it still has its
// connection.
func (w *worker) perform(ctx context.Context, due, start, lag time.Duration) (end time.Duration, connected bool) {
	kind := w.client.Next()
	err := w.client.Do(ctx, kind)
	end = w.run.now()
	if err != nil {
		return end, w.failed(kind, err, w.journal.drop(end))
	}
	e := entry{operation: int32(kind), response: end - due, service: end - start, lag: lag}
	if w.run.spec.Limit > 0 && e.response > w.run.spec.Limit {
		e.fate = late
	}
	full, interrupted := w.journal.end(e, end)
	if interrupted {
		return end, w.failed(kind, nil, interrupted)
	}
	w.proven, w.lastDone = true, end
	if full {
		w.run.recorder.drain(&w.journal)
		end = w.run.now() // the visit is not the next operation's time
	}
	return end, true
}

// failed books an operation that ended as an error, and tells whether the connection survived it.
func (w *worker) failed(kind int, err error, interrupted bool) (connected bool) {
	if interrupted {
		w.run.recorder.failed(kind, ClassTimeout, "no answer; the connection was closed")
		return false
	}
	w.run.recorder.failed(kind, classOf(err, ClassOther), err.Error())
	var broken Broken
	return !errors.As(err, &broken) || !broken.ConnectionLost()
}

// skip books an operation that was never sent.
func (w *worker) skip() {
	e := entry{operation: int32(w.client.Next()), fate: skipped}
	if full, _ := w.journal.end(e, resting); full {
		w.run.recorder.drain(&w.journal)
	}
}

func classOf(err error, otherwise string) string {
	var c Classified
	if errors.As(err, &c) {
		return c.Class()
	}
	return otherwise
}
