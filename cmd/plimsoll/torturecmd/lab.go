package torturecmd

import (
	"context"
	"errors"
	"slices"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/lab"
)

// tortureLab is the lab cluster that is tortured. Each use takes hold of it for a moment only: in between the runs hold it.
type tortureLab struct {
	name string
	deps lab.Deps
	ran  []string // nodes that ran when it was kept
}

func (t *tortureLab) with(ctx context.Context, f func(*lab.Cluster) error) error {
	cluster, err := home.OpenLab(ctx, t.name, t.deps)
	if err != nil {
		return err
	}
	return errors.Join(f(cluster), cluster.Close())
}

// save keeps what the cluster is.
func (t *tortureLab) save(ctx context.Context) error {
	return t.with(ctx, func(c *lab.Cluster) error {
		t.ran = nil
		for _, n := range c.Nodes() {
			if n.State != lab.Stopped {
				t.ran = append(t.ran, n.Name)
			}
		}
		return c.Save(ctx)
	})
}

// restore brings the cluster back to what was kept, with the nodes running that ran then.
func (t *tortureLab) restore(ctx context.Context) error {
	return t.with(ctx, func(c *lab.Cluster) error {
		if err := c.Restore(ctx); err != nil {
			return err
		}
		if len(t.ran) > 0 {
			if err := c.Start(ctx, t.ran...); err != nil {
				return err
			}
		}
		for _, n := range c.Nodes() {
			if n.State != lab.Stopped && !slices.Contains(t.ran, n.Name) {
				if err := c.Stop(ctx, n.Name); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// elsewhere is the cluster as a target: as a Plimsoll on another host has it, which does not hold its lab.
func (t *tortureLab) elsewhere(ctx context.Context) (*cluster.Cluster, error) {
	on := &cluster.Cluster{Name: t.name, Environment: cluster.Lab, Local: t.deps.Machine}
	var nodes []cluster.Node
	err := t.with(ctx, func(c *lab.Cluster) error {
		for _, n := range c.Nodes() {
			target, err := c.Target(n.Name)
			if err != nil {
				return err
			}
			if on.Engine, err = catalog.EngineOf(target); err != nil {
				return err
			}
			nodes = append(nodes, cluster.Node{Name: n.Name, Target: target})
		}
		return nil
	})
	on.List = func(context.Context) ([]cluster.Node, error) { return slices.Clone(nodes), nil }
	on.AskRoles()
	return on, err
}
