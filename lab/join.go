package lab

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"plimsoll/engine"
)

// join makes a node that was started a part of the cluster, if those before it run, or waits until it is one again. A
// replica whose primary is down joins by itself later. What was grown, what is separate, and what is a primary now, the lab
// does not touch: that is decided by others.
func (c *Cluster) join(ctx context.Context, m *member) error {
	c.mu.Lock()
	r := c.record.Nodes[c.record.find(m.Name)]
	c.mu.Unlock()
	if r.Apart || c.record.Separate {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, c.deps.Patience)
	defer cancel()
	before, err := c.before(limited, m, r.Member)
	if err != nil {
		return fmt.Errorf("%s did not join: %w", m.Name, err)
	}
	if len(before) > 0 {
		if err := c.launcher.Join(limited, c.on(m), m.Node, before); err != nil {
			return fmt.Errorf("%s did not join: %w", m.Name, err)
		}
	}
	if !r.Member && (len(before) > 0 || m == c.members[0]) {
		return c.note(ctx, m, func(n *nodeRecord) { n.Member = true })
	}
	return nil
}

// before are the nodes of which a node becomes a part, or with which it is one again; none when there is nothing to be done,
// or it cannot be done now.
func (c *Cluster) before(ctx context.Context, m *member, member bool) ([]engine.Node, error) {
	replicator, ok := c.launcher.(engine.Replicator)
	switch {
	case !ok:
		return c.earlier(m), nil
	case !member && m == c.members[0]:
		return nil, nil // the founder
	case !member:
		primary := c.Primary(ctx)
		return c.toFollow(func(n engine.Node) bool { return n.Name == primary && n.Name != m.Name }), nil
	}
	is, err := replicator.ReplicationStatus(ctx, c.on(m), m.Node)
	if err != nil {
		return nil, err
	}
	return c.toFollow(func(n engine.Node) bool { return net.JoinHostPort(n.Address, strconv.Itoa(n.Port)) == is.Follows() }), nil
}

// earlier are the nodes before one, none unless all of them run.
func (c *Cluster) earlier(m *member) []engine.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.members[:slices.Index(c.members, m)]
	if slices.ContainsFunc(before, func(b *member) bool { return b.state() != Running }) {
		return nil
	}
	return plain(before)
}

// toFollow is the node that runs and is meant, if there is one.
func (c *Cluster) toFollow(meant func(engine.Node) bool) []engine.Node {
	for _, n := range c.Nodes() {
		if n.State == Running && meant(n.Node) {
			return []engine.Node{n.Node}
		}
	}
	return nil
}
