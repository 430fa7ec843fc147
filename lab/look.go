package lab

import (
	"context"
	"slices"
)

// Look shows a cluster as it is without taking it in hand: whoever has it keeps it, and may change it meanwhile. It can be asked for
// its nodes and how to reach them, and every operation on it is refused. It need not be closed.
func Look(ctx context.Context, name string, deps Deps) (*Cluster, error) {
	d, r, l, password, err := made(ctx, name, deps)
	if err != nil {
		return nil, err
	}
	r.Nodes = slices.DeleteFunc(r.Nodes, func(n nodeRecord) bool { return n.Unmade }) // they are being added, or removed
	c := newCluster(d, l, r, password)
	c.looked = true
	<-c.turn
	close(c.turn) // no operation begins
	for _, m := range c.members {
		if err := c.reach(ctx, m); err != nil {
			return nil, err
		}
		found, err := c.processes(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if p.Leads() && p.Mark() != layerMark(m.Node) && m.process == nil {
				m.process = p
			}
		}
	}
	return c, nil
}
