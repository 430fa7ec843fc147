package cql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

var _ engine.Ringed = (*database)(nil)

const (
	// deaf is how long a node may give no sign of life before it counts as down. Nodes gossip every second, and in a ring
	// of hundreds a beat is everywhere after a few; a machine that is short of processors may hold one up for longer.
	deaf = 10 * time.Second
	// listening is how often the beats are looked at as long as there is somebody to be heard of.
	listening = 250 * time.Millisecond
)

// Ring reads the gossip of one node, as often as it takes to tell who is alive.
func (d *database) Ring(ctx context.Context, asked string) (engine.Ring, error) {
	again := time.NewTicker(listening)
	defer again.Stop()
	for {
		ring, unsure, err := d.control.ring(ctx, asked)
		if err != nil || !unsure {
			return ring, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return engine.Ring{}, engine.Ended(ctx, false)
		}
	}
}

// ring is one look. It is unsure while a member was seen only once, or not often enough to be judged.
func (c *control) ring(ctx context.Context, asked string) (ring engine.Ring, unsure bool, err error) {
	err = c.use(ctx, asked, func(s *gocql.Session) error {
		local, err := readLocal(ctx, s)
		if err != nil {
			return err
		}
		ring.Asked = local.address
		peers, err := readPeers(ctx, s)
		if err != nil {
			return err
		}
		gossip, err := readGossip(ctx, s)
		if err != nil {
			return err
		}
		now := time.Now()
		for _, g := range gossip {
			m, is := g.member(append(peers, local))
			if !is {
				continue
			}
			if m.Address == local.address {
				m.Up = true // it answers
			} else {
				var heard bool
				m.Silent, heard = c.pulse(ring.Asked, g, now)
				m.Up = m.Silent < deaf && !g.shut()
				unsure = unsure || !heard && m.Up
			}
			ring.Members = append(ring.Members, m)
		}
		slices.SortFunc(ring.Members, func(a, b engine.Member) int { return strings.Compare(a.Address, b.Address) })
		return nil
	})
	if err != nil {
		return ring, false, fmt.Errorf("read the ring: %w", err)
	}
	return ring, unsure, nil
}

// beat is a node's last heartbeat that another had heard of.
type beat struct {
	generation, version int
	since               time.Time // when it was first seen
	alive               bool      // one came after another
}

// pulse is for how long a node has been silent, and whether it was ever heard to beat.
func (c *control) pulse(asked string, g gossip, now time.Time) (silent time.Duration, heard bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := asked + " " + g.host
	last, known := c.beats[key]
	if !known || last.generation != g.generation || last.version != g.beat {
		last = beat{generation: g.generation, version: g.beat, since: now, alive: known}
		c.beats[key] = last
	}
	return now.Sub(last.since), last.alive
}
