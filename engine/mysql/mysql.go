// Package mysql is the adapter for MySQL and MariaDB, and what speaks their protocol.
package mysql

import (
	"context"

	"plimsoll/engine"
)

// Engine is the adapter.
type Engine struct{}

var (
	_ engine.Engine = Engine{}
	_ engine.Dialer = Engine{}
)

func (Engine) Name() string { return "mysql" }

// Open connects once, to the one of several servers that takes writes, to prove that the target answers, and keeps that session for the control path.
func (Engine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	checked, err := newTarget(t)
	if err != nil {
		return nil, &engine.TargetError{Err: err}
	}
	open := withOwnDefaults(t, newPrimary(checked).session)
	db := &database{target: checked, session: open, control: newControl(open)}
	if len(checked.Addresses) > 1 {
		for _, address := range checked.Addresses {
			db.each = append(db.each, newControl(withOwnDefaults(t, func(ctx context.Context) (*session, error) { return checked.connect(ctx, address) })))
		}
	}
	if err := db.control.use(ctx, func(*session) error { return nil }); err != nil {
		return nil, err
	}
	return db, nil
}

// Dial implements engine.Dialer.
func (Engine) Dial(ctx context.Context, t engine.Target) (engine.Session, error) {
	checked, err := newTarget(t)
	if err != nil {
		return nil, &engine.TargetError{Err: err}
	}
	s, err := checked.connect(ctx, checked.Addresses[0])
	if err != nil {
		return nil, err
	}
	return s, nil
}
