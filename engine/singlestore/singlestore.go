// Package singlestore is the adapter for SingleStore, experimental, which speaks MySQL's protocol. It was written from SingleStore's public
// documentation, and no SingleStore was there to try it on: its tests ask a server of their own that answers as documented.
package singlestore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
)

// Engine is the adapter.
type Engine struct{}

var _ engine.Engine = Engine{}

func (Engine) Name() string { return "singlestore" }

// Open connects to the aggregator at the target's first address, which is the master, to prove that it answers and is
// SingleStore.
func (Engine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	aggregators, err := mysql.Endpoints(t)
	if err != nil {
		return nil, err
	}
	db := &database{Endpoint: aggregators[0], aggregators: aggregators}
	if _, err := db.Facts(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// database is a cluster behind its aggregators. What is asked of it beside the load is asked of the master.
type database struct {
	*mysql.Endpoint // the master aggregator
	aggregators     []*mysql.Endpoint
	next            atomic.Uint32
}

var (
	_ engine.Database         = (*database)(nil)
	_ engine.Configurable     = (*database)(nil)
	_ engine.InFlightCounting = (*database)(nil)
	_ engine.Namespaced       = (*database)(nil)
)

// Session opens one on the next aggregator in turn that lets us in: any of them answers any statement.
func (d *database) Session(ctx context.Context) (engine.Session, error) {
	from := int(d.next.Add(1) - 1)
	var first error
	for i := range d.aggregators {
		s, err := d.aggregators[(from+i)%len(d.aggregators)].Session(ctx)
		if err == nil {
			return s, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// MakeNamespace makes a database.
func (d *database) MakeNamespace(ctx context.Context, name string) error {
	if err := d.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+Engine{}.Quote(name)); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

func (d *database) Close() error { return mysql.CloseAll(d.aggregators) }
