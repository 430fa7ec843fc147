package lab

import (
	"context"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Death is the end of a server that nobody asked for.
type Death struct {
	Node  string
	At    time.Time // when it was noticed, which is at once
	Cause error     // what its log says; nil when it ended without a word, as one that the kernel kills for its memory does
	Log   []string  // the last lines of its log
}

// Died tells of every server that ends by itself while this Plimsoll has the cluster.
func (c *Cluster) Died() <-chan Death { return c.deaths }

// watch takes a member's process and watches over it until it is forgotten.
func (c *Cluster) watch(ctx context.Context, m *member, p infra.Process) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.mu.Lock()
	m.process, m.unwatch, m.ending = p, cancel, false
	node := m.Node
	c.mu.Unlock()
	c.watchers.Go(func() {
		defer cancel()
		if err := p.Wait(ctx); err != nil && (ctx.Err() != nil || !c.vanished(ctx, m)) {
			return // forgotten
		}
		at := c.deps.Now()
		if c.lose(m, p) {
			c.report(context.WithoutCancel(ctx), c.on(m), node, at)
		}
	})
}

// ExpectEnd says that a node's server is going to end by itself, before it is started again: Died does not tell of it.
func (c *Cluster) ExpectEnd(node string) error {
	members, err := c.pick([]string{node})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	members[0].ending = true
	return nil
}

// lose takes an ended process from its member, if it still was its, and tells whether that is a surprise.
func (c *Cluster) lose(m *member, p infra.Process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.process != p {
		return false
	}
	m.forget()
	return !m.ending
}

func (c *Cluster) report(ctx context.Context, on infra.Machine, n engine.Node, at time.Time) {
	d := Death{Node: n.Name, At: at, Cause: c.launcher.Diagnose(ctx, on, n)}
	if tail, err := infra.Tail(ctx, on, n.Log(), 4<<10); err == nil {
		d.Log = strings.Split(strings.TrimRight(string(tail), "\n"), "\n")
	}
	select {
	case c.deaths <- d:
	default: // nobody listens
	}
}
