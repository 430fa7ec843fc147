package workload

import (
	"context"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/poll"
)

// filler is the session that a goroutine fills with.
type filler struct {
	db      engine.Database
	session engine.Session
}

// How often, and after which pauses, each twice the one before, rows are sent again: a minute with the answers' own time, in
// which a server collects garbage, a node restarts, or the others find out that it is gone.
const (
	resends    = 6
	firstPause = 500 * time.Millisecond
)

// deliver sends the rows, and again if no answer came where that does no harm.
func (w *writer) deliver(ctx context.Context) error {
	err := w.send(ctx)
	pause := firstPause
	for try := 0; try < resends && w.source.Over && passes(err) && poll.Rest(ctx, pause) == nil; try++ {
		pause *= 2
		if Lost(err) {
			if err = w.reopen(ctx); err != nil {
				continue
			}
		}
		err = w.send(ctx)
	}
	return err
}

// reopen takes a new session for one that is lost.
func (w *writer) reopen(ctx context.Context) error {
	session, err := w.db.Session(ctx)
	if err != nil {
		return err
	}
	_ = w.session.Close() // it is lost
	w.session, w.insert, w.rows.full = session, nil, 0
	return nil
}

// passes tells the errors that another try may not meet.
func passes(err error) bool {
	switch engine.ClassOf(err) {
	case engine.Timeout, engine.Unavailable, engine.Overloaded:
		return true
	}
	return false
}
