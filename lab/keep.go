package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
)

// Save keeps a copy of the data of every node, in place of what was kept before. It copies stopped data folders: nodes
// that run are stopped for it and started again.
func (c *Cluster) Save(ctx context.Context) error {
	return c.operation(ctx, func() error {
		ran, err := c.stopAll(ctx, c.stop)
		if err != nil {
			return err
		}
		// Half a copy is none: the record lists what is kept only when all of it is.
		if err := c.keep(ctx, nil); err != nil {
			return err
		}
		for _, m := range c.members {
			c.deps.say("%s: keep a copy of its data", m.Name)
			if err := c.on(m).MakeDir(ctx, path.Dir(c.kept(m))); err != nil {
				return fmt.Errorf("keep the data of %s: %w", m.Name, err)
			}
			if err := c.on(m).CopyTree(ctx, m.Data(), c.kept(m)); err != nil {
				return fmt.Errorf("keep the data of %s: %w", m.Name, err)
			}
		}
		if err := c.keep(ctx, slices.Clone(c.record.Nodes)); err != nil {
			return err
		}
		return c.resume(ctx, ran)
	})
}

// Restore brings the cluster back to what Save kept: its data, and its nodes. Nodes that run are killed for it, as their
// data is thrown away, and started again; nodes added since are removed, and removed ones made again, which run if any did;
// settings stay as they are, but for those of single nodes.
func (c *Cluster) Restore(ctx context.Context) error {
	return c.operation(ctx, func() error {
		if len(c.record.Kept) == 0 {
			return errors.New("restore: there is no copy")
		}
		ran, err := c.stopAll(ctx, func(ctx context.Context, m *member) error { return c.end(ctx, m, "KILL") })
		if err != nil {
			return err
		}
		if ran, err = c.matchKept(ctx, ran); err != nil {
			return err
		}
		for _, m := range c.members {
			c.deps.say("%s: bring its data back", m.Name)
			if err := c.lift(ctx, m); err != nil { // of a server that ended by itself
				return err
			}
			// The old data goes first: there need not be room for three.
			if err := c.on(m).Remove(ctx, m.Data()); err != nil {
				return fmt.Errorf("restore the data of %s: %w", m.Name, err)
			}
			if err := c.on(m).CopyTree(ctx, c.kept(m), m.Data()); err != nil {
				return fmt.Errorf("restore the data of %s: %w", m.Name, err)
			}
			if err := c.made(ctx, m); err != nil {
				return err
			}
		}
		return c.resume(ctx, ran)
	})
}

// matchKept brings the nodes, but for their data, back to those that were kept. It returns which are to run, of those that ran.
func (c *Cluster) matchKept(ctx context.Context, ran []*member) ([]*member, error) {
	config, runs := c.record.Nodes[0].Config, len(ran) > 0
	for _, kept := range c.record.Kept {
		if at := c.record.find(kept.name()); at >= 0 {
			kept.Config = c.record.Nodes[at].Config
			if err := c.note(ctx, c.members[at], func(n *nodeRecord) { *n = kept }); err != nil {
				return nil, err
			}
			continue
		}
		kept.Config, kept.Unmade = maps.Clone(config), true
		m, err := c.append(ctx, kept)
		if err != nil {
			return nil, err
		}
		if c.record.hasMachine(m.Name) {
			return nil, fmt.Errorf("%s was removed with its machine, together with the copy of its data", m.Name)
		}
		for _, folder := range []string{m.Dir, m.Run(), m.Temp()} {
			if err := c.on(m).MakeDir(ctx, folder); err != nil {
				return nil, fmt.Errorf("%s: make its folder: %w", m.Name, err)
			}
		}
		if runs {
			ran = append(ran, m)
		}
	}
	for _, m := range slices.Clone(c.members) {
		if slices.ContainsFunc(c.record.Kept, func(n nodeRecord) bool { return n.name() == m.Name }) {
			continue
		}
		if err := c.remove(ctx, m); err != nil {
			return nil, err
		}
		ran = slices.DeleteFunc(ran, func(r *member) bool { return r == m })
	}
	c.sort()
	c.primary = c.members[0].Name // until they are asked
	return ran, c.record.write(ctx, c.deps.Machine, c.folder)
}

// sort puts the nodes into the order of their numbers.
func (c *Cluster) sort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.members, func(a, b *member) int { return a.Number - b.Number })
	slices.SortFunc(c.record.Nodes, func(a, b nodeRecord) int { return a.Number - b.Number })
}

// stopAll ends all nodes and returns those that ran.
func (c *Cluster) stopAll(ctx context.Context, how func(context.Context, *member) error) ([]*member, error) {
	var ran []*member
	for _, m := range c.members {
		if c.stateOf(m) != Stopped {
			ran = append(ran, m)
		}
	}
	return ran, c.primaryLast(ctx, ran, func(m *member) error { return how(ctx, m) })
}

func (c *Cluster) resume(ctx context.Context, members []*member) error {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b *member) int { return a.Number - b.Number })
	for _, m := range members {
		if err := c.start(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// kept is where the copy of a node's data is.
func (c *Cluster) kept(m *member) string {
	if c.record.hasMachine(m.Name) {
		return path.Join(m.Dir, "kept", m.Name)
	}
	return path.Join(c.folder, "kept", m.Name)
}

// keep records of which nodes there is a copy.
func (c *Cluster) keep(ctx context.Context, nodes []nodeRecord) error {
	c.record.Kept = nodes
	return c.record.write(ctx, c.deps.Machine, c.folder)
}
