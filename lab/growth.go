package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// Growth adds nodes to a cluster and removes them.
type Growth struct{ cluster *Cluster }

var _ cluster.Grower = Growth{}

// Add adds a node with the first one's settings, makes it a part of the cluster and returns its name. It is started,
// unless no other node runs.
//
// Where the engine's nodes can begin with a copy of another's data, it is taken from the node that came last, which is
// stopped for that time: a replica if there is one, else the primary. The data is exact, however it got there; what it
// costs is that this node is away.
func (g Growth) Add(ctx context.Context) (name string, err error) {
	err = g.cluster.operation(ctx, func() error {
		m, err := g.enlist(ctx, nodeRecord{})
		if err != nil {
			return err
		}
		name = m.Name
		if err := g.settle(ctx, m); err != nil {
			return errors.Join(err, g.remove(context.WithoutCancel(ctx), m))
		}
		return nil
	})
	return name, err
}

// Grow makes an empty server that is part of nothing yet and does not run; it returns the node's name. It has the first
// node's settings, under these of its own. The same token finds the same node again, whatever became of the Plimsoll that
// began it. Who grows a node makes it a part of the cluster: starting it does not.
func (g Growth) Grow(ctx context.Context, token string, own map[string]string) (name string, err error) {
	if name = g.Grown(token); name != "" {
		return name, nil
	}
	err = g.cluster.operation(ctx, func() error {
		m, err := g.enlist(ctx, nodeRecord{Token: token, Own: maps.Clone(own), Apart: true})
		if err != nil {
			return err
		}
		if err := m.make(ctx, m); err != nil {
			return errors.Join(err, g.remove(context.WithoutCancel(ctx), m))
		}
		name = m.Name
		return m.made(ctx)
	})
	return name, err
}

// Grown is the name of the node that was grown for a token; "" if there is none.
func (g Growth) Grown(token string) string { return g.cluster.record.grown(token) }

// Reset ends a grown node and makes its data empty again. It does not run afterwards.
func (g Growth) Reset(ctx context.Context, node string) error {
	return g.cluster.each(ctx, []string{node}, func(ctx context.Context, m *member) error {
		if !m.record.of(node).Apart {
			return fmt.Errorf("%s is an original node of the cluster and has its data, so it is not emptied", node)
		}
		if err := m.end(ctx, "KILL"); err != nil {
			return err
		}
		if err := m.host.machine().Remove(ctx, m.Data()); err != nil {
			return fmt.Errorf("empty %s: %w", node, err)
		}
		return m.make(ctx, m)
	})
}

// Remove ends a node and removes it with its data. A copy that was kept of it stays for Restore, which brings it back. The
// primary is not removed while it runs and there are others, nor is the last node.
func (g Growth) Remove(ctx context.Context, node string) error {
	c := g.cluster
	return c.each(ctx, []string{node}, func(ctx context.Context, m *member) error {
		if len(c.roster.all()) == 1 {
			return fmt.Errorf("%s is the last node of cluster %s", node, c.Name())
		}
		if _, replicates := c.launcher.(engine.Replicator); replicates && !c.record.Separate && c.Primary(ctx) == node {
			return fmt.Errorf("%s is the primary: the others replicate from it", node)
		}
		return g.remove(ctx, m)
	})
}

// Shrink is Remove, for which a node that is not there is fine.
func (g Growth) Shrink(ctx context.Context, node string) error {
	if _, err := g.cluster.roster.find(node); err != nil {
		return nil //nolint:nilerr // it is removed already
	}
	return g.Remove(ctx, node)
}

// enlist writes a new node down: with a number and an address that no other has or had when the data was kept.
func (g Growth) enlist(ctx context.Context, n nodeRecord) (*member, error) {
	c := g.cluster
	for _, known := range slices.Concat(c.record.Nodes, c.record.Kept) {
		n.Number = max(n.Number, known.Number+1)
	}
	if n.Number > maxNodes {
		return nil, fmt.Errorf("cluster %s cannot have a node number %d", c.Name(), n.Number)
	}
	network, err := netip.ParseAddr(c.record.Network)
	if err != nil {
		return nil, fmt.Errorf("addresses of cluster %s: %w", c.Name(), err)
	}
	n.Address = place{network: network}.address(n.Number).String()
	n.Config, n.Unmade = maps.Clone(c.record.Nodes[0].Config), true
	m, err := g.append(ctx, n)
	if err != nil {
		return nil, err
	}
	return m, c.record.save(ctx)
}

// append makes a record a member, if there is room for one more.
func (g Growth) append(ctx context.Context, n nodeRecord) (*member, error) {
	c := g.cluster
	c.record.add(n)
	m := newMember(c.foundation, c.deaths, c.record.node(n.name()))
	if err := c.deps.checkRoom(ctx, c.launcher, []engine.Node{m.Node}); err != nil {
		c.record.drop(n.name())
		return nil, err
	}
	c.roster.add(m)
	return m, nil
}

// settle makes a new node's data and starts it, unless no other node runs.
func (g Growth) settle(ctx context.Context, m *member) error {
	c, from := g.cluster, m // a separate server begins empty
	if !c.record.Separate {
		from = g.pattern(ctx, m)
	}
	runs := slices.ContainsFunc(c.roster.all(), func(other *member) bool { return other.state() != Stopped })
	ran := from.state() != Stopped
	if _, copies := c.launcher.(engine.Cloner); copies && !m.host.own() && !from.host.own() {
		if err := from.stop(ctx); err != nil {
			return err
		}
	}
	if err := m.make(ctx, from); err != nil {
		return err
	}
	if err := m.made(ctx); err != nil {
		return err
	}
	if ran {
		if err := c.membership().start(ctx, from); err != nil {
			return err
		}
	}
	if !runs {
		return nil
	}
	return c.membership().start(ctx, m)
}

// pattern is the node of which a new one is a copy: the last that is a part of the cluster and not the primary.
func (g Growth) pattern(ctx context.Context, new *member) *member {
	primary := g.cluster.Primary(ctx)
	var pattern *member
	for _, m := range g.cluster.roster.all() {
		if n := m.record.of(m.Name); m == new || n.Apart || n.Unmade {
			continue
		}
		if pattern == nil || m.Name != primary {
			pattern = m
		}
	}
	if pattern == nil { // only grown ones are left
		return g.cluster.roster.first()
	}
	return pattern
}

// remove takes a node out of the cluster with all that it has. If that is cut off, the next Open completes it.
func (g Growth) remove(ctx context.Context, m *member) error {
	if err := m.note(ctx, func(n *nodeRecord) { n.Unmade = true }); err != nil {
		return err
	}
	m.deps.say("%s: remove it", m.Name)
	if err := m.end(ctx, "KILL"); err != nil {
		return err
	}
	if err := m.host.scrap(ctx); err != nil {
		return fmt.Errorf("remove %s: %w", m.Name, err)
	}
	if err := m.deps.Machine.Remove(ctx, path.Join(m.record.folder, m.Name)); err != nil {
		return fmt.Errorf("remove %s: %w", m.Name, err)
	}
	g.cluster.roster.drop(m)
	m.record.drop(m.Name)
	return m.record.save(ctx)
}
