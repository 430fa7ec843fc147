// Package loadtest is a simulated server for tests of what issues load. Inside a testing/synctest bubble its time is the
// bubble's, so that what a load must measure can be computed.
package loadtest

import (
	"context"
	"sync"
	"time"

	"plimsoll/load"
)

// Server answers operations after a service time, any number at once, unless it is frozen, down or cut off. The zero
// value answers at once.
type Server struct {
	// Service returns how long an operation takes; nil: no time at all. Called by many at once.
	Service func(operation int) time.Duration
	// Answer returns what an operation ends with; nil: success. Called by many at once.
	Answer func(operation int) error
	// Mix returns how a worker draws its operations; nil: always the first.
	Mix func(worker int) func() int

	mu       sync.Mutex
	frozen   chan struct{} // closed by Thaw; nil while it is not frozen
	down     bool
	cut      bool
	sessions map[*client]struct{}
}

// Freeze lets no operation end and no connection be made until Thaw, like a stopped process.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = make(chan struct{})
}

// Thaw ends Freeze.
func (s *Server) Thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.frozen)
	s.frozen = nil
}

// Kill breaks every connection and refuses new ones until Start.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	for c := range s.sessions {
		c.breakOff()
	}
	clear(s.sessions)
}

// Start ends Kill and CutOff.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.cut = false, false
}

// CutOff is Kill by a network that drops every packet: attempts to connect hang.
func (s *Server) CutOff() {
	s.Kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = true
}

// Connections is how many connections are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Connect is a load.Connect.
func (s *Server) Connect(ctx context.Context, worker int) (load.Client, error) {
	c := &client{server: s, draw: func() int { return 0 }}
	if s.Mix != nil {
		c.draw = s.Mix(worker)
	}
	if err := c.Reconnect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Error is what an operation can end with.
type Error struct {
	Kind string
	Lost bool
}

func (e *Error) Error() string        { return "simulated " + e.Kind }
func (e *Error) Class() string        { return e.Kind }
func (e *Error) ConnectionLost() bool { return e.Lost }

var (
	errLost    = &Error{Kind: "unavailable", Lost: true}
	errRefused = &Error{Kind: "unavailable", Lost: true}
)

type client struct {
	server *Server
	draw   func() int

	mu     sync.Mutex
	broken chan struct{} // closed when the connection is lost
}

func (c *client) Next() int { return c.draw() }

func (c *client) Do(ctx context.Context, operation int) error {
	c.mu.Lock()
	broken := c.broken
	c.mu.Unlock()
	if c.server.Service != nil {
		if d := c.server.Service(operation); d > 0 && !wait(ctx, broken, time.After(d)) {
			return errLost
		}
	}
	if frozen := c.server.thawed(); frozen != nil && !wait(ctx, broken, frozen) {
		return errLost
	}
	select {
	case <-broken:
		return errLost
	default:
	}
	if c.server.Answer != nil {
		return c.server.Answer(operation)
	}
	return nil
}

func wait[T any](ctx context.Context, broken <-chan struct{}, until <-chan T) bool {
	select {
	case <-until:
		return true
	case <-broken:
		return false
	case <-ctx.Done():
		return false
	}
}

// thawed is closed once the server is not frozen any more; nil if it is not.
func (s *Server) thawed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frozen
}

func (c *client) Reconnect(ctx context.Context) error {
	s := c.server
	s.mu.Lock()
	cut, frozen := s.cut, s.frozen
	s.mu.Unlock()
	if cut {
		<-ctx.Done()
		return ctx.Err()
	}
	if frozen != nil && !wait(ctx, nil, frozen) {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return errRefused
	}
	c.mu.Lock()
	c.broken = make(chan struct{})
	c.mu.Unlock()
	if s.sessions == nil {
		s.sessions = map[*client]struct{}{}
	}
	s.sessions[c] = struct{}{}
	return nil
}

func (c *client) Interrupt() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if _, open := c.server.sessions[c]; open {
		delete(c.server.sessions, c)
		c.breakOff()
	}
}

func (c *client) breakOff() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.broken)
}

func (c *client) Close() error {
	c.Interrupt()
	return nil
}
