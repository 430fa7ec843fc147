package mysql

import (
	"context"
	"errors"

	"plimsoll/engine"
)

// database is a server, or the primary of several, with the questions that are asked of it beside the load.
type database struct {
	target   target
	control  *control   // of the primary
	replicas []*control // of the other addresses
	unrest   unrest
}

var _ engine.Database = (*database)(nil)

func (d *database) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.target.connect(ctx, d.target.Addresses[0])
	if err != nil {
		return nil, err
	}
	return s, nil
}

// servers are the sessions on every address of the target, the primary's first.
func (d *database) servers() []*control { return append([]*control{d.control}, d.replicas...) }

func (d *database) Close() error {
	var errs []error
	for _, c := range d.servers() {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// control is one session that several callers share, opened again when it was lost.
type control struct {
	target  target
	address string
	turn    chan *session // holds the session, or nil for none yet, while nobody uses it
}

func newControl(t target, address string) *control {
	c := &control{target: t, address: address, turn: make(chan *session, 1)}
	c.turn <- nil
	return c
}

// use calls f with the session when it is its turn.
func (c *control) use(ctx context.Context, f func(*session) error) error {
	var s *session
	select {
	case s = <-c.turn:
	case <-ctx.Done():
		return ended(ctx, false)
	}
	defer func() { c.turn <- s }()
	if s != nil && s.lost != nil {
		_ = s.Close() // it is gone
		s = nil
	}
	if s == nil {
		var err error
		if s, err = c.target.connect(ctx, c.address); err != nil {
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
