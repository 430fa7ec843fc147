package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/document"
)

// Open takes hold of a cluster that was made before, running or not.
func Open(ctx context.Context, name string, deps Deps) (_ *Cluster, err error) {
	d, r, l, err := made(ctx, name, deps)
	if err != nil {
		return nil, err
	}
	cluster, err := d.lockCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	patient, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	addresses, err := d.Machine.Lock(patient, placeLock(r.Network))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take the addresses of cluster %s: %w", name, err), cluster())
	}
	c := newCluster(d, l, r, addresses, cluster)
	c.opened = true
	if err := c.adopt(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Look opens a cluster to read from it, without taking hold of it: the process that holds it keeps it, and may change it meanwhile. It can
// be asked for its nodes and how to reach them, and every operation on it is refused. It need not be closed.
func Look(ctx context.Context, name string, deps Deps) (*Cluster, error) {
	d, r, l, err := made(ctx, name, deps)
	if err != nil {
		return nil, err
	}
	r.Nodes = slices.DeleteFunc(r.Nodes, func(n nodeRecord) bool { return n.Unmade }) // they are being added, or removed
	c := newCluster(d, l, r)
	c.looked, c.opened = true, true
	<-c.turn
	close(c.turn) // no operation begins
	for _, m := range c.roster.all() {
		if err := m.host.reach(ctx); err != nil {
			return nil, err
		}
		found, err := m.host.processes(ctx, m.Node)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if p.Leads() && p.Mark() != layerMark(m.Node) && m.state() == Stopped {
				m.process.take(p, nil)
			}
		}
	}
	return c, nil
}

// made is what is known of a cluster that was made before.
func made(ctx context.Context, name string, deps Deps) (d Deps, r *record, l engine.Launcher, err error) {
	if d, err = deps.withDefaults(); err != nil {
		return d, nil, nil, err
	}
	if err := checkName(name); err != nil {
		return d, nil, nil, err
	}
	if r, err = readRecord(ctx, d.Machine, d.folder(name)); err != nil {
		return d, nil, nil, d.noCluster(ctx, name, err)
	}
	if !r.Complete {
		return d, nil, nil, hint.With(fmt.Errorf("the creation of cluster %s was never completed", name), "plimsoll lab down "+name)
	}
	if l, err = d.launcher(r.Dist.Product); err != nil {
		return d, nil, nil, err
	}
	if err = r.readPassword(ctx); err != nil {
		return d, nil, nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	return d, r, l, nil
}

// noCluster is why a cluster's record cannot be read: if there is none, with the name that was meant.
func (d Deps) noCluster(ctx context.Context, name string, err error) error {
	err = fmt.Errorf("cluster %s: %w", name, err)
	if !errors.Is(err, ErrNoCluster) {
		return err
	}
	advice := "plimsoll lab list"
	if names, failed := d.Machine.List(ctx, d.clusters()); failed == nil {
		names = slices.DeleteFunc(names, func(file string) bool { return !validName.MatchString(file) }) // a lock
		if near := document.Nearest(name, names); near != "" {
			advice = fmt.Sprintf("did you mean %q? plimsoll lab list shows all", near)
		}
	}
	return hint.With(err, advice)
}

// adopt finds the processes of the nodes, and removes nodes that a killed Plimsoll was about to add or to remove.
func (c *Cluster) adopt(ctx context.Context) error {
	for _, m := range c.roster.all() {
		if err := m.host.reach(ctx); err != nil {
			return err
		}
		found, err := m.host.processes(ctx, m.Node)
		if err != nil {
			return err
		}
		if c.record.of(m.Name).Unmade {
			if err := endUnmade(ctx, m.Name, func() ([]infra.Process, error) { return m.host.processes(ctx, m.Node) }); err != nil {
				return err
			}
			if err := c.Growth().remove(ctx, m); err != nil {
				return err
			}
			continue
		}
		for _, p := range found {
			switch {
			case !p.Leads():
			case p.Mark() == layerMark(m.Node):
				m.layer.process = p
			case m.state() == Stopped:
				m.watch(ctx, p)
			}
		}
	}
	return nil
}

// endUnmade ends the programs of a node that was half made. A script may start one more before it ends; what starts them again and again is left.
func endUnmade(ctx context.Context, node string, processes func() ([]infra.Process, error)) error {
	for range 10 {
		found, err := processes()
		if err != nil || len(found) == 0 {
			return err
		}
		if err := endAll(ctx, found); err != nil {
			return err
		}
	}
	found, err := processes()
	if err != nil || len(found) == 0 {
		return err
	}
	return hint.With(fmt.Errorf("node %s was half made, and its programs start again and again: process %d runs now", node, found[0].ID()), "end what starts them by hand, then plimsoll lab down")
}
