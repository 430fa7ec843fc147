package lab

import (
	"context"
	"fmt"
	"maps"

	"plimsoll/hint"
	"plimsoll/infra/disk/pace"
)

// Start starts nodes that do not run, one after another, and returns when each serves and is part of the cluster.
// Without names it is for all, as in every operation.
func (c *Cluster) Start(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, c.membership().start)
}

// Stop ends nodes that run cleanly; frozen ones are thawed for it. The primary is the last to go: it waits for its
// replicas.
func (c *Cluster) Stop(ctx context.Context, nodes ...string) error {
	return c.operation(ctx, func() error {
		members, err := c.roster.pick(nodes)
		if err != nil {
			return err
		}
		return c.membership().endAll(ctx, members, func(m *member) error { return m.stop(ctx) })
	})
}

// Restart stops and starts nodes, one after another.
func (c *Cluster) Restart(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, c.membership().restart)
}

// Kill ends nodes with SIGKILL, as a crash would.
func (c *Cluster) Kill(ctx context.Context, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error { return m.end(ctx, "KILL") })
}

// Reconfigure gives nodes these settings in place of those they had. What does not run takes them at its next start; what
// runs is restarted, unless the settings cannot be: then it goes on as it was. What only the server itself refuses leaves
// it stopped.
func (c *Cluster) Reconfigure(ctx context.Context, config map[string]string, nodes ...string) error {
	return c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		running := m.state() != Stopped
		if running {
			if err := m.accepts(ctx, config); err != nil {
				return err
			}
		}
		if err := m.note(ctx, func(n *nodeRecord) { n.Config = maps.Clone(config) }); err != nil {
			return err
		}
		if !running {
			return nil
		}
		return c.membership().restart(ctx, m)
	})
}

// SetDisk gives nodes a disk of other limits while they run, as a cloud changes a volume, but at once.
func (c *Cluster) SetDisk(ctx context.Context, d *pace.Disk, nodes ...string) error {
	if err := d.Check(); err != nil {
		return InputError{err}
	}
	if c.record.Disk == nil {
		return hint.With(fmt.Errorf("cluster %s has no disk with limits", c.Name()), "create one with such a disk: plimsoll lab up "+c.record.Dist.Product+" --disk gp2:800GiB --name NAME, or cluster: {disk: …} in a trial")
	}
	return c.operation(ctx, func() error {
		members, err := c.roster.pick(nodes)
		if err != nil {
			return err
		}
		if len(nodes) == 0 { // nodes that come later have it too
			if err := c.record.change(ctx, func(r *record) { r.Disk = d }); err != nil {
				return err
			}
		}
		for _, m := range members {
			if err := m.layer.setDisk(ctx, m.Node, d); err != nil {
				return fmt.Errorf("%s: change its disk: %w", m.Name, err)
			}
		}
		return nil
	})
}

// each does one thing to nodes, one after another, as one operation.
func (c *Cluster) each(ctx context.Context, nodes []string, do func(context.Context, *member) error) error {
	return c.operation(ctx, func() error {
		members, err := c.roster.pick(nodes)
		if err != nil {
			return err
		}
		for _, m := range members {
			if err := do(ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
}
