package singlestoretest

import (
	"sync"
	"testing"
)

// hold is what keeps things from ending, until it is over.
type hold struct {
	over chan struct{}
	kept int // how many things
}

// Hold keeps what sdb-admin is told to change, and the moves of a rebalance, from ending until release is called, at the latest
// when the test has ended. What began under one hold is not kept by a later one.
func (c *Cluster) Hold(t testing.TB) (release func()) {
	t.Helper()
	h := &hold{over: make(chan struct{})}
	release = sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held == h {
			c.held = nil
		}
		close(h.over)
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = h
	t.Cleanup(release)
	return release
}

// Holding is how much the latest hold keeps from ending.
func (c *Cluster) Holding() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return 0
	}
	return c.held.kept
}

// keep lets something be kept by what holds, if anything does. The lock is held.
func (c *Cluster) keep() (until <-chan struct{}) {
	if c.held == nil {
		free := make(chan struct{})
		close(free)
		return free
	}
	c.held.kept++
	return c.held.over
}
