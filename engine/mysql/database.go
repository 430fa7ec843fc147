package mysql

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// database is a server, or the primary of several, with the questions that are asked of it beside the load.
type database struct {
	target   target
	session  func(context.Context) (*session, error) // opens one on the server that takes writes
	*control                                         // of the primary, whichever that is
	each     []*control                              // of each address of several
	backlog  backlog
}

var (
	_ engine.Database        = (*database)(nil)
	_ engine.ReadOnlyCapable = (*database)(nil)
)

// withOwnDefaults makes sessions not go by the server's defaults, where a target asks for that.
func withOwnDefaults(t engine.Target, open func(context.Context) (*session, error)) func(context.Context) (*session, error) {
	if !t.OwnDefaults {
		return open
	}
	return func(ctx context.Context) (*session, error) {
		s, err := open(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.Exec(ctx, admin.OwnDefaults, nil); err != nil {
			return nil, errors.Join(fmt.Errorf("settings of its session: %w", err), s.Close())
		}
		return s, nil
	}
}

func (d *database) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.session(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ReadOnlySession opens a session of which every transaction is read only, also those of single statements.
func (d *database) ReadOnlySession(ctx context.Context) (engine.Session, error) {
	s, err := d.session(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Exec(ctx, "SET SESSION TRANSACTION READ ONLY", nil); err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read only: %w", err), s.Close())
	}
	return s, nil
}

// servers are the sessions on every address of the target.
func (d *database) servers() []*control {
	if len(d.each) == 0 {
		return []*control{d.control}
	}
	return d.each
}

func (d *database) Close() error {
	var errs []error
	for _, c := range append([]*control{d.control}, d.each...) {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// control is one session that several callers share, opened again when it was lost.
type control struct {
	open func(context.Context) (*session, error)
	turn chan *session // holds the session, or nil for none yet, while nobody uses it
}

func newControl(open func(context.Context) (*session, error)) *control {
	c := &control{open: open, turn: make(chan *session, 1)}
	c.turn <- nil
	return c
}

// use calls f with the session when it is its turn.
func (c *control) use(ctx context.Context, f func(*session) error) error {
	var s *session
	select {
	case s = <-c.turn:
	case <-ctx.Done():
		return engine.Ended(ctx, false)
	}
	defer func() { c.turn <- s }()
	if s != nil && s.lost != nil {
		_ = s.Close() // it is gone
		s = nil
	}
	if s == nil {
		var err error
		if s, err = c.open(ctx); err != nil {
			return err
		}
	}
	return f(s)
}

func (c *control) close() error {
	s := <-c.turn
	c.turn <- nil
	if s == nil {
		return nil
	}
	return s.Close()
}
