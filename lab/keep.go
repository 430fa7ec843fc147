package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
)

// Save keeps a copy of the data of every node, in place of what was kept before. It copies stopped data folders: nodes
// that run are stopped for it and started again.
func (c *Cluster) Save(ctx context.Context) error {
	return c.operation(ctx, func() error {
		ran, err := c.halt(ctx, c.stop)
		if err != nil {
			return err
		}
		// Half a copy is none: the record lists what is kept only when all of it is.
		if err := c.keep(ctx, nil); err != nil {
			return err
		}
		var names []string
		for _, m := range c.members {
			c.deps.say("%s: keep a copy of its data", m.Name)
			if err := c.deps.Machine.MakeDir(ctx, path.Dir(c.kept(m))); err != nil {
				return fmt.Errorf("keep the data of %s: %w", m.Name, err)
			}
			if err := c.deps.Machine.CopyTree(ctx, m.Data(), c.kept(m)); err != nil {
				return fmt.Errorf("keep the data of %s: %w", m.Name, err)
			}
			names = append(names, m.Name)
		}
		if err := c.keep(ctx, names); err != nil {
			return err
		}
		return c.resume(ctx, ran)
	})
}

// Restore brings the cluster back to what Save kept: its data, and its nodes. Nodes that run are killed for it, as their
// data is thrown away, and started again; nodes added since are removed; settings stay as they are.
func (c *Cluster) Restore(ctx context.Context) error {
	return c.operation(ctx, func() error {
		if len(c.record.Kept) == 0 {
			return errors.New("restore: nothing was kept")
		}
		ran, err := c.halt(ctx, func(ctx context.Context, m *member) error { return c.end(ctx, m, "KILL") })
		if err != nil {
			return err
		}
		for _, m := range slices.Clone(c.members) {
			if !slices.Contains(c.record.Kept, m.Name) {
				if err := c.remove(ctx, m); err != nil {
					return err
				}
				ran = slices.DeleteFunc(ran, func(r *member) bool { return r == m })
			}
		}
		for _, m := range c.members {
			c.deps.say("%s: bring its data back", m.Name)
			// The old data goes first: there need not be room for three.
			if err := c.deps.Machine.Remove(ctx, m.Data()); err != nil {
				return fmt.Errorf("restore the data of %s: %w", m.Name, err)
			}
			if err := c.deps.Machine.CopyTree(ctx, c.kept(m), m.Data()); err != nil {
				return fmt.Errorf("restore the data of %s: %w", m.Name, err)
			}
		}
		return c.resume(ctx, ran)
	})
}

// halt ends all nodes and returns those that ran.
func (c *Cluster) halt(ctx context.Context, how func(context.Context, *member) error) ([]*member, error) {
	var ran []*member
	for _, m := range c.members {
		if c.stateOf(m) != Stopped {
			ran = append(ran, m)
		}
	}
	return ran, c.firstLast(ran, func(m *member) error { return how(ctx, m) })
}

func (c *Cluster) resume(ctx context.Context, members []*member) error {
	for _, m := range members {
		if err := c.start(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// kept is where the copy of a node's data is.
func (c *Cluster) kept(m *member) string { return path.Join(c.folder, "kept", m.Name) }

// keep records of which nodes there is a copy.
func (c *Cluster) keep(ctx context.Context, names []string) error {
	c.record.Kept = names
	return c.record.write(ctx, c.deps.Machine, c.folder)
}
