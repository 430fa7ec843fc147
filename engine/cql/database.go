package cql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// database is a cluster's keyspace. Its sessions share the driver's connections: each has streams of them, not
// connections of its own.
type database struct {
	target  target
	control *control
	turn    chan struct{} // holds a token while the connections are opened, or closed
	closed  bool          // of who has the turn
	open    atomic.Pointer[connections]
}

// connections are the driver's, to every node that it may talk to.
type connections struct {
	driver *gocql.Session
	nodes  *awake
	silent atomic.Int64 // since when no node was reached by them, in nanoseconds of the epoch; 0: one was
}

// forlorn is how long the driver may reach no node before it is replaced: of several named hosts that are not looked up it may take away
// all when it reconnects (see cluster), and never tries again.
const forlorn = 10 * time.Second

// reached notes whether a node was, and tells whether none has been for so long that others should be made.
func (c *connections) reached(is bool) (forsaken bool) {
	if is {
		c.silent.Store(0)
		return false
	}
	now := time.Now()
	c.silent.CompareAndSwap(0, now.UnixNano())
	return now.Sub(time.Unix(0, c.silent.Load())) > forlorn
}

var (
	_ engine.Database = (*database)(nil)
	_ engine.Avoiding = (*database)(nil)
)

// Avoids lists the nodes that statements keep away from because they hang.
func (d *database) Avoids() []string {
	if c := d.open.Load(); c != nil {
		return c.nodes.hanging()
	}
	return nil
}

// connections are opened by whoever needs them first.
func (d *database) connections(ctx context.Context) (*connections, error) {
	if c := d.open.Load(); c != nil {
		return c, nil
	}
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, engine.Ended(ctx, true)
	}
	if c := d.open.Load(); c != nil {
		return c, nil
	}
	if d.closed {
		return nil, refused(ctx, gocql.ErrSessionClosed)
	}
	t, err := d.target.resolved(ctx)
	if err != nil {
		return nil, err
	}
	config := t.cluster()
	nodes := t.spread(config)
	driver, err := connect(ctx, t, config)
	if err != nil {
		return nil, err
	}
	c := &connections{driver: driver, nodes: nodes}
	d.open.Store(c)
	return c, nil
}

// Session begins a stream of statements once a node answers. A node has the target's time for that; connections that broke a
// moment ago are given a second to come back.
func (d *database) Session(ctx context.Context) (engine.Session, error) {
	c, err := d.connections(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, max(patience, d.target.Timeout))
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; {
		err := c.driver.Query("SELECT key FROM system.local").Consistency(gocql.One).ExecContext(limited)
		if err == nil {
			c.reached(true)
			return newSession(c.driver), nil
		}
		if ctx.Err() == nil && classify(err).Lost && c.reached(false) && d.open.CompareAndSwap(c, nil) {
			go shut(c.driver) // who still has a session of it finds it lost, and asks for another
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
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	d.closed = true
	if c := d.open.Load(); c != nil {
		shut(c.driver)
	}
	d.control.close()
	return nil
}
