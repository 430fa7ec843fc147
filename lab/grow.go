package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"

	"plimsoll/engine"
)

// Add adds a node with the first one's settings, makes it a part of the cluster and returns its name. It is started,
// unless no other node runs.
//
// Where the engine's nodes can begin with a copy of another's data, it is taken from the node that came last, which is
// stopped for that time: a replica if there is one, else the primary. The data is exact, however it got there; what it
// costs is that this node is away.
func (c *Cluster) Add(ctx context.Context) (name string, err error) {
	err = c.operation(ctx, func() error {
		m, err := c.enlist(ctx, nodeRecord{})
		if err != nil {
			return err
		}
		name = m.Name
		if err := c.settle(ctx, m); err != nil {
			return errors.Join(err, c.remove(context.WithoutCancel(ctx), m))
		}
		return nil
	})
	return name, err
}

// Grow makes an empty server that is part of nothing yet and does not run; it returns the node's name. It has the first
// node's settings, under these of its own. The same token finds the same node again, whatever became of the Plimsoll that
// began it. Who grows a node makes it a part of the cluster: starting it does not.
func (c *Cluster) Grow(ctx context.Context, token string, own map[string]string) (name string, err error) {
	if name = c.Grown(token); name != "" {
		return name, nil
	}
	err = c.operation(ctx, func() error {
		m, err := c.enlist(ctx, nodeRecord{Token: token, Own: maps.Clone(own), Apart: true})
		if err != nil {
			return err
		}
		if err := c.makeNode(ctx, m, m); err != nil {
			return errors.Join(err, c.remove(context.WithoutCancel(ctx), m))
		}
		name = m.Name
		return c.made(ctx, m)
	})
	return name, err
}

// Grown is the name of the node that was grown for a token; "" if there is none.
func (c *Cluster) Grown(token string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.record.Nodes {
		if n.Token == token && token != "" && !n.Unmade {
			return n.name()
		}
	}
	return ""
}

// Reset ends a grown node and makes its data empty again. It does not run afterwards.
func (c *Cluster) Reset(ctx context.Context, node string) error {
	return c.operation(ctx, func() error {
		members, err := c.pick([]string{node})
		if err != nil {
			return err
		}
		m := members[0]
		if !c.record.Nodes[c.record.find(node)].Apart {
			return fmt.Errorf("%s is an original node of the cluster and has its data, so it is not emptied", node)
		}
		if err := c.end(ctx, m, "KILL"); err != nil {
			return err
		}
		if err := c.on(m).Remove(ctx, m.Data()); err != nil {
			return fmt.Errorf("empty %s: %w", node, err)
		}
		return c.makeNode(ctx, m, m)
	})
}

// Remove ends a node and removes it with its data. A copy that was kept of it stays for Restore, which brings it back. The
// primary is not removed while it runs and there are others, nor is the last node.
func (c *Cluster) Remove(ctx context.Context, node string) error {
	return c.operation(ctx, func() error {
		members, err := c.pick([]string{node})
		if err != nil {
			return err
		}
		if len(c.members) == 1 {
			return fmt.Errorf("%s is the last node of cluster %s", node, c.Name())
		}
		if _, replicates := c.launcher.(engine.Replicator); replicates && !c.record.Separate && c.Primary(ctx) == node {
			return fmt.Errorf("%s is the primary: the others replicate from it", node)
		}
		return c.remove(ctx, members[0])
	})
}

// enlist writes a new node down: with a number and an address that no other has or had when the data was kept.
func (c *Cluster) enlist(ctx context.Context, n nodeRecord) (*member, error) {
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
	m, err := c.append(ctx, n)
	if err != nil {
		return nil, err
	}
	return m, c.record.write(ctx, c.deps.Machine, c.folder)
}

// append makes a record a member, if there is room for one more.
func (c *Cluster) append(ctx context.Context, n nodeRecord) (*member, error) {
	c.mu.Lock()
	c.record.Nodes = append(c.record.Nodes, n)
	m := &member{Node: c.record.node(len(c.record.Nodes)-1, c.folder, c.password)}
	c.mu.Unlock()
	err := c.deps.checkRoom(ctx, c.launcher, []engine.Node{m.Node})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.record.Nodes = c.record.Nodes[:len(c.record.Nodes)-1]
		return nil, err
	}
	c.members = append(c.members, m)
	return m, nil
}

// made notes that a node has all that it needs.
func (c *Cluster) made(ctx context.Context, m *member) error {
	return c.note(ctx, m, func(n *nodeRecord) { n.Unmade = false })
}

// note changes what is written down of a node.
func (c *Cluster) note(ctx context.Context, m *member, change func(*nodeRecord)) error {
	c.mu.Lock()
	change(&c.record.Nodes[c.record.find(m.Name)])
	c.mu.Unlock()
	return c.record.write(ctx, c.deps.Machine, c.folder)
}

// settle makes a new node's data and starts it, unless no other node runs.
func (c *Cluster) settle(ctx context.Context, m *member) error {
	from := m // a separate server begins empty
	if !c.record.Separate {
		from = c.pattern(ctx, m)
	}
	runs := slices.ContainsFunc(c.members, func(other *member) bool { return c.stateOf(other) != Stopped })
	ran := c.stateOf(from) != Stopped
	if _, copies := c.launcher.(engine.Cloner); copies && !c.record.hasMachine(m.Name) && !c.record.hasMachine(from.Name) {
		if err := c.stop(ctx, from); err != nil {
			return err
		}
	}
	if err := c.makeNode(ctx, m, from); err != nil {
		return err
	}
	if err := c.made(ctx, m); err != nil {
		return err
	}
	if ran {
		if err := c.start(ctx, from); err != nil {
			return err
		}
	}
	if !runs {
		return nil
	}
	return c.start(ctx, m)
}

// pattern is the node of which a new one is a copy: the last that is a part of the cluster and not the primary.
func (c *Cluster) pattern(ctx context.Context, new *member) *member {
	primary := c.Primary(ctx)
	var pattern *member
	for i, m := range c.members {
		if m == new || c.record.Nodes[i].Apart || c.record.Nodes[i].Unmade {
			continue
		}
		if pattern == nil || m.Name != primary {
			pattern = m
		}
	}
	if pattern == nil { // only grown ones are left
		return c.members[0]
	}
	return pattern
}

// remove takes a node out of the cluster with all that it has. If that is cut off, the next Open completes it.
func (c *Cluster) remove(ctx context.Context, m *member) error {
	if err := c.note(ctx, m, func(n *nodeRecord) { n.Unmade = true }); err != nil {
		return err
	}
	c.deps.say("%s: remove it", m.Name)
	if err := c.end(ctx, m, "KILL"); err != nil {
		return err
	}
	if err := c.scrap(ctx, m); err != nil {
		return fmt.Errorf("remove %s: %w", m.Name, err)
	}
	if err := c.deps.Machine.Remove(ctx, path.Join(c.folder, m.Name)); err != nil {
		return fmt.Errorf("remove %s: %w", m.Name, err)
	}
	c.mu.Lock()
	at := slices.Index(c.members, m)
	c.members = slices.Delete(slices.Clone(c.members), at, at+1)
	c.record.Nodes = slices.Delete(c.record.Nodes, at, at+1)
	c.mu.Unlock()
	return c.record.write(ctx, c.deps.Machine, c.folder)
}
