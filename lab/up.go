package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
)

// Up makes a cluster and returns when all of it serves. On an error nothing of it is left.
func Up(ctx context.Context, spec Spec, deps Deps) (*Cluster, error) {
	d, err := deps.withDefaults()
	if err != nil {
		return nil, err
	}
	if spec, err = spec.withDefaults(); err != nil {
		return nil, err
	}
	launcher, err := d.launcher(spec.Product)
	if err != nil {
		return nil, err
	}
	unlock, err := d.lockCluster(ctx, spec.Name)
	if err != nil {
		return nil, err
	}
	c, err := d.make(ctx, spec, launcher, unlock)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	if err := c.build(ctx); err != nil {
		return nil, errors.Join(err, c.abandon(ctx))
	}
	return c, nil
}

// make refuses what cannot work and writes the record of what is going to be. Nothing runs yet.
func (d Deps) make(ctx context.Context, spec Spec, launcher engine.Launcher, unlock func() error) (*Cluster, error) {
	left, err := d.leftovers(ctx, spec.Name)
	if err != nil {
		return nil, err
	}
	if left.any() {
		advice := "choose another name with --name, or remove it and its data: plimsoll lab down " + spec.Name
		if hasStopped(ctx, d, spec.Name, left.processes) {
			advice = "plimsoll lab start " + spec.Name + " starts its servers that do not run, with the data that is there; or " + advice
		}
		return nil, hint.With(fmt.Errorf("cluster %s exists already", spec.Name), advice)
	}
	dist, err := d.distribution(ctx, spec.Product, spec.Version)
	if err != nil {
		return nil, err
	}
	at, err := d.takePlace(ctx, spec.Nodes, spec.Port, launcher.Port())
	if err != nil {
		return nil, err
	}
	r := &record{
		Name: spec.Name, Made: d.Now(), Dist: dist, Network: at.network.String(), Port: at.port, Memory: spec.Memory,
		Separate: spec.Separate, Forgetful: spec.Forgetful, Disk: spec.Disk, Machines: spec.Machines,
		files: d.Machine, folder: d.folder(spec.Name),
	}
	for n := 1; n <= spec.Nodes; n++ {
		r.Nodes = append(r.Nodes, nodeRecord{Number: n, Address: at.address(n).String(), Config: maps.Clone(spec.Config)})
	}
	if err := d.found(ctx, r, launcher); err != nil {
		return nil, errors.Join(err, d.Machine.Remove(context.WithoutCancel(ctx), r.folder), at.release())
	}
	return newCluster(d, launcher, r, at.release, unlock), nil
}

// found checks that there is room for a cluster and that its servers take its settings, and writes down what is to be known of it.
func (d Deps) found(ctx context.Context, r *record, launcher engine.Launcher) error {
	if r.Machines != nil {
		if err := r.Machines.fit(launcher, r.nodeAt(0)); err != nil {
			return err
		}
	}
	var nodes []engine.Node
	for i := range r.Nodes {
		nodes = append(nodes, r.nodeAt(i))
	}
	if err := d.checkRoom(ctx, launcher, nodes); err != nil {
		return err
	}
	if err := d.checkSettings(ctx, launcher, nodes...); err != nil {
		return err
	}
	if r.layered() {
		if err := d.checkLayer(ctx); err != nil {
			return err
		}
	}
	if r.Machines != nil {
		if err := d.checkMachines(ctx, r); err != nil {
			return err
		}
	}
	if err := d.Machine.MakeDir(ctx, r.folder); err != nil {
		return fmt.Errorf("make the cluster's folder: %w", err)
	}
	if err := r.save(ctx); err != nil {
		return err
	}
	return r.makePassword(ctx)
}

// build makes the nodes' data and starts them.
func (c *Cluster) build(ctx context.Context) error {
	all := c.roster.all()
	for _, m := range all {
		if err := m.make(ctx, all[0]); err != nil {
			return err
		}
	}
	if err := c.membership().startAll(ctx, all); err != nil {
		return err
	}
	return c.record.change(ctx, func(r *record) { r.Complete = true })
}

// abandon takes away what was made so far, although ctx may have ended.
func (c *Cluster) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return c.Down(ctx)
}
