// Package cql is the adapter for Cassandra, and for ScyllaDB, which speaks its protocol.
package cql

import (
	"context"

	"plimsoll/engine"
)

// Engine is the adapter.
type Engine struct{}

var _ engine.Engine = Engine{}

func (Engine) Name() string { return "cql" }

// Open asks one of the target's nodes what there is, and refuses a data centre or a keyspace that is not. The first session
// opens connections to every node of the data centre: a node that hangs holds these up, and not who only asks about the ring.
func (Engine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	checked, err := newTarget(t)
	if err != nil {
		return nil, &engine.TargetError{Err: err}
	}
	control := newControl(checked)
	db, err := open(ctx, checked, control)
	if err != nil {
		control.close()
		return nil, err
	}
	return db, nil
}

func open(ctx context.Context, t target, control *control) (*database, error) {
	known, err := control.look(ctx)
	if err != nil {
		return nil, err
	}
	if t.dc, err = known.dataCentre(t.dc); err != nil {
		return nil, err
	}
	if err := known.hasKeyspace(t.Namespace); err != nil {
		return nil, err
	}
	return &database{target: t, control: control, turn: make(chan struct{}, 1)}, nil
}
