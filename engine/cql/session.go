package cql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// session is one stream of statements over the database's connections.
type session struct {
	driver  *gocql.Session
	texts   rows     // what answers to plain texts are read with
	columns []string // of the last Table

	outer context.Context // of the last call
	inner context.Context // beneath it: Interrupt ends it too
	mu    sync.Mutex      // lets Interrupt find end
	end   context.CancelFunc
	cut   atomic.Bool   // Interrupt was called
	lost  *engine.Error // the session is of no use any more
}

var _ engine.Session = (*session)(nil)

func newSession(driver *gocql.Session) *session { return &session{driver: driver} }

func (s *session) Prepare(ctx context.Context, text string) (engine.Statement, error) {
	inner, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	p, err := prepare(inner, s, text)
	if err := s.leave(ctx, err); err != nil {
		return nil, err
	}
	return p, nil
}

func (s *session) Exec(ctx context.Context, text string, r *engine.Result) error {
	if r != nil {
		r.Reset()
	}
	inner, err := s.enter(ctx)
	if err != nil {
		return err
	}
	return s.leave(ctx, s.texts.read(s.driver.Query(text).IterContext(inner), r))
}

// Interrupt ends the call that is under way, and the session.
func (s *session) Interrupt() {
	s.cut.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
}

func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
	s.lost = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "the session is closed"}
	return nil
}

// enter begins a call and returns the context to make it under. It is made anew only when the caller's changes: a load's
// thousands of calls a second under one context cost nothing. Every enter that returned no error is followed by leave.
func (s *session) enter(ctx context.Context) (context.Context, error) {
	if s.lost != nil {
		return nil, s.lost
	}
	if ctx.Err() != nil {
		return nil, engine.Ended(ctx, false) // nothing was sent: the session is as good as before
	}
	if s.outer != ctx {
		s.under(ctx)
	}
	if s.cut.Load() { // after inner is in its place: whoever interrupts now ends it
		s.lost = interrupted()
		return nil, s.lost
	}
	return s.inner, nil
}

func (s *session) under(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end()
	}
	s.outer = ctx
	s.inner, s.end = context.WithCancel(ctx)
}

// leave ends a call that had this outcome. One that was broken off ends the session, as its contract says.
func (s *session) leave(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	broken := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case broken && ctx.Err() != nil:
		s.lost = engine.Ended(ctx, true)
		return s.lost
	case broken && s.cut.Load():
		s.lost = interrupted()
		return s.lost
	}
	e := classify(err)
	if e.Lost {
		s.lost = e
	}
	return e
}

func interrupted() *engine.Error {
	return &engine.Error{Kind: engine.Timeout, Lost: true, Text: "interrupted"}
}
