package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"plimsoll/engine"
)

// Add adds a node with the first one's settings and returns its name. It is started, unless the first node does not run.
//
// Where the engine's nodes can begin with a copy of another's data, it is taken from the node that came last, which is
// stopped for that time: a replica if there is one, else the primary. The data is exact, however it got there; what it
// costs is that this node is away.
func (c *Cluster) Add(ctx context.Context) (name string, err error) {
	err = c.operation(ctx, func() error {
		m, err := c.enlist(ctx)
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

// Remove ends a node that is not the first and removes it with its data, and with the copy that was kept of it.
func (c *Cluster) Remove(ctx context.Context, node string) error {
	return c.operation(ctx, func() error {
		members, err := c.pick([]string{node})
		if err != nil {
			return err
		}
		if members[0] == c.members[0] {
			return fmt.Errorf("%s is the first node: the others follow it", node)
		}
		return c.remove(ctx, members[0])
	})
}

// enlist writes a new node down.
func (c *Cluster) enlist(ctx context.Context) (*member, error) {
	number := c.record.Nodes[len(c.record.Nodes)-1].Number + 1
	if number > maxNodes {
		return nil, fmt.Errorf("cluster %s cannot have a node number %d", c.Name(), number)
	}
	network, err := netip.ParseAddr(c.record.Network)
	if err != nil {
		return nil, fmt.Errorf("addresses of cluster %s: %w", c.Name(), err)
	}
	first := c.record.Nodes[0]
	c.record.Nodes = append(c.record.Nodes, nodeRecord{
		Number: number, Address: place{network: network}.address(number).String(), Config: maps.Clone(first.Config), Unmade: true,
	})
	m := &member{Node: c.record.node(len(c.record.Nodes)-1, c.folder, c.password)}
	if err := c.deps.checkRoom(ctx, c.launcher, []engine.Node{m.Node}); err != nil {
		c.record.Nodes = c.record.Nodes[:len(c.record.Nodes)-1]
		return nil, err
	}
	c.mu.Lock()
	c.members = append(c.members, m)
	c.mu.Unlock()
	return m, c.record.write(ctx, c.deps.Machine, c.folder)
}

// settle makes a new node's data and starts it, unless the first node does not run either.
func (c *Cluster) settle(ctx context.Context, m *member) error {
	from := c.members[len(c.members)-2]
	runs, ran := c.stateOf(c.members[0]) != Stopped, c.stateOf(from) != Stopped
	if _, copies := c.launcher.(engine.Cloner); copies {
		if err := c.stop(ctx, from); err != nil {
			return err
		}
	}
	if err := c.furnish(ctx, m, from); err != nil {
		return err
	}
	c.record.Nodes[len(c.record.Nodes)-1].Unmade = false
	if err := c.record.write(ctx, c.deps.Machine, c.folder); err != nil {
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

// remove takes a node out of the cluster with all that it has.
func (c *Cluster) remove(ctx context.Context, m *member) error {
	if err := c.end(ctx, m, "KILL"); err != nil {
		return err
	}
	c.mu.Lock()
	at := slices.Index(c.members, m)
	c.members = slices.Delete(slices.Clone(c.members), at, at+1)
	c.mu.Unlock()
	c.record.Nodes = slices.Delete(c.record.Nodes, at, at+1)
	c.record.Kept = slices.DeleteFunc(c.record.Kept, func(name string) bool { return name == m.Name })
	for _, folder := range []string{m.Dir, c.kept(m)} {
		if err := c.deps.Machine.Remove(ctx, folder); err != nil {
			return fmt.Errorf("remove %s: %w", m.Name, err)
		}
	}
	return c.record.write(ctx, c.deps.Machine, c.folder)
}
