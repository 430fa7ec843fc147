package cql

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// control has a connection of its own to every node that was asked something beside the load: what a node says of itself
// and of the ring differs from node to node.
type control struct {
	target target

	mu    sync.Mutex
	nodes map[string]*gocql.Session // by address
	beats map[string]beat           // by who was asked and whom it was asked about
	mute  map[string]silence        // nodes that did not let us in

	levels map[string]map[string]level // what each node showed last, by signal
}

// silence is when and how a node did not let us in.
type silence struct {
	at  time.Time
	err error
}

// shun is how long a node that did not let us in is not tried again: a hanging one would hold up every question.
const shun = 2 * time.Second

// anyNode stands for the first of the target's nodes that answers.
const anyNode = ""

func newControl(t target) *control {
	return &control{target: t, nodes: map[string]*gocql.Session{}, beats: map[string]beat{}, mute: map[string]silence{}}
}

// use calls f with the connection to a node, opened again if it was lost. Errors of f are classified.
func (c *control) use(ctx context.Context, address string, f func(*gocql.Session) error) error {
	if address != anyNode {
		return c.useOne(ctx, address, f)
	}
	var all error
	for _, a := range c.target.Addresses {
		err := c.useOne(ctx, a, f)
		if err == nil {
			return nil
		}
		var e *engine.Error
		if ctx.Err() != nil || errors.As(err, &e) && (!e.Lost || e.Kind == engine.Denied) {
			return err
		}
		if all == nil {
			all = err // of the first, which is the one that a person looks at first
		}
	}
	return all
}

func (c *control) useOne(ctx context.Context, address string, f func(*gocql.Session) error) error {
	s, err := c.session(ctx, address)
	if err != nil {
		return err
	}
	if err := f(s); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return engine.Ended(ctx, false) // these connections are nobody's alone: they stay
		}
		e := classify(err)
		if e.Lost || e.Kind == engine.Timeout {
			c.drop(address, s)
		}
		return e
	}
	return nil
}

func (c *control) session(ctx context.Context, address string) (*gocql.Session, error) {
	c.mu.Lock()
	s, mute := c.nodes[address], c.mute[address]
	c.mu.Unlock()
	switch {
	case s != nil:
		return s, nil
	case mute.err != nil && time.Since(mute.at) < shun:
		return nil, mute.err
	}
	s, err := alone(ctx, c.target, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.mute[address] = silence{time.Now(), err}
		return nil, err
	}
	delete(c.mute, address)
	if other := c.nodes[address]; other != nil { // somebody was quicker
		shut(s)
		return other, nil
	}
	c.nodes[address] = s
	return s, nil
}

// drop closes a connection that is of no use any more.
func (c *control) drop(address string, s *gocql.Session) {
	c.mu.Lock()
	if c.nodes[address] == s {
		delete(c.nodes, address)
	}
	c.mu.Unlock()
	shut(s)
}

func (c *control) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for address, s := range c.nodes {
		shut(s)
		delete(c.nodes, address)
	}
}

// alone connects to one node and looks for no others.
func alone(ctx context.Context, t target, address string) (*gocql.Session, error) {
	t.Addresses, t.Namespace, t.discover, t.connections = []string{address}, "", false, 1
	t, err := t.resolved(ctx)
	if err != nil {
		return nil, err
	}
	c := t.cluster()
	c.Consistency = gocql.One
	c.Timeout = t.Timeout // a node that hangs must not hold up what looks at all of them
	c.HostFilter = only(t.Addresses)
	ignoreRing(c)
	return connect(ctx, t, c)
}

// only lets a driver talk to the named addresses.
func only(addresses []string) gocql.HostFilter {
	return gocql.HostFilterFunc(func(h *gocql.HostInfo) bool { return slices.Contains(addresses, h.ConnectAddressAndPort()) })
}
