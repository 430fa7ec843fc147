package mysql

import (
	"context"
	"errors"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// Endpoint is one address at which MySQL's protocol is spoken, by whatever product: what the adapters of others than MySQL and
// MariaDB stand on. It assumes no replication. Its questions, settings and accounts go over one session that they share, which
// is opened again when it was lost.
type Endpoint struct {
	*control
	target  target
	address string
}

// Endpoints are those of a target's addresses, in their order. Nothing is connected yet.
func Endpoints(t engine.Target) ([]*Endpoint, error) {
	checked, err := newTarget(t)
	if err != nil {
		return nil, &engine.TargetError{Err: err}
	}
	var all []*Endpoint
	for _, address := range checked.Addresses {
		all = append(all, &Endpoint{
			control: newControl(func(ctx context.Context) (*session, error) { return checked.connect(ctx, address) }),
			target:  checked, address: address,
		})
	}
	return all, nil
}

// Address is host:port, or the path of a socket.
func (e *Endpoint) Address() string { return e.address }

// Session opens a session of its own.
func (e *Endpoint) Session(ctx context.Context) (engine.Session, error) {
	s, err := e.target.connect(ctx, e.address)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Table asks a question for its rows by the names of their columns; NULL is left out.
func (e *Endpoint) Table(ctx context.Context, text string) (rows []map[string]string, err error) {
	err = e.use(ctx, func(s *session) error {
		rows, err = s.table(ctx, text)
		return err
	})
	return rows, err
}

// Exec has a statement executed.
func (e *Endpoint) Exec(ctx context.Context, text string) error {
	return e.use(ctx, func(s *session) error { return s.Exec(ctx, text, nil) })
}

// Variables reads global variables by name; those that the server lacks are left out. The names are an adapter's own.
func (e *Endpoint) Variables(ctx context.Context, names ...string) (map[string]string, error) {
	return e.shown(ctx, admin.Variables(names...))
}

// CloseAll closes what endpoints hold open.
func CloseAll(all []*Endpoint) error {
	var errs []error
	for _, e := range all {
		errs = append(errs, e.close())
	}
	return errors.Join(errs...)
}
