package cql

import (
	"context"
	"errors"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// database is a cluster's keyspace. Its sessions share the driver's connections: each has streams of them, not
// connections of its own.
type database struct {
	target  target
	driver  *gocql.Session
	nodes   *awake
	control *control
}

var (
	_ engine.Database = (*database)(nil)
	_ engine.Avoiding = (*database)(nil)
)

// Avoids lists the nodes that statements keep away from because they hang.
func (d *database) Avoids() []string { return d.nodes.hanging() }

// Session begins a stream of statements once a node answers. A node has the target's time for that; connections that broke a
// moment ago are given a second to come back.
func (d *database) Session(ctx context.Context) (engine.Session, error) {
	limited, cancel := context.WithTimeout(ctx, max(patience, d.target.Timeout))
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; {
		err := d.driver.Query("SELECT key FROM system.local").Consistency(gocql.One).ExecContext(limited)
		if err == nil {
			return newSession(d), nil
		}
		if errors.Is(err, gocql.ErrSessionClosed) || limited.Err() != nil || !classify(err).Lost || time.Since(began) > patience {
			return nil, refused(ctx, err)
		}
		select {
		case <-again.C:
		case <-limited.Done():
			return nil, refused(ctx, err)
		}
	}
}

// patience is for connections that are being made anew.
const patience = time.Second

// refused is why there is no session.
func refused(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return engine.Ended(ctx, true)
	}
	e := *classify(err)
	e.Lost = true
	if e.Kind == engine.Timeout {
		e.Kind = engine.Unavailable
	}
	return &e
}

func (d *database) Close() error {
	d.driver.Close()
	d.control.close()
	return nil
}
