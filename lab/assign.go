package lab

import (
	"context"
	"maps"
)

// Assign gives nodes settings of their own, over those of the cluster, in place of those they had of their own. They hold
// from the next start; what runs goes on as it is.
func (c *Cluster) Assign(ctx context.Context, own map[string]string, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		return c.note(ctx, m, func(n *nodeRecord) { n.Own = maps.Clone(own) })
	})
}

// Assigned returns a node's own settings.
func (c *Cluster) Assigned(node string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.record.find(node); at >= 0 {
		return maps.Clone(c.record.Nodes[at].Own)
	}
	return nil
}
