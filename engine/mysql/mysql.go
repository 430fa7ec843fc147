// Package mysql is the adapter for MySQL and MariaDB, and what speaks their protocol.
package mysql

import (
	"context"

	"plimsoll/engine"
)

// Engine is the adapter.
type Engine struct{}

var _ engine.Engine = Engine{}

func (Engine) Name() string { return "mysql" }

// Open connects once, to prove that the target answers, and keeps that session for the control path.
func (Engine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	checked, err := newTarget(t)
	if err != nil {
		return nil, err
	}
	db := &database{target: checked, control: newControl(checked, checked.Addresses[0])}
	for _, address := range checked.Addresses[1:] {
		db.replicas = append(db.replicas, newControl(checked, address))
	}
	if err := db.control.use(ctx, func(*session) error { return nil }); err != nil {
		return nil, err
	}
	return db, nil
}
