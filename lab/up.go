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
		return nil, hint.With(fmt.Errorf("cluster %s exists already", spec.Name), "plimsoll lab down "+spec.Name)
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
	}
	for n := 1; n <= spec.Nodes; n++ {
		r.Nodes = append(r.Nodes, nodeRecord{Number: n, Address: at.address(n).String(), Config: maps.Clone(spec.Config)})
	}
	password, err := d.found(ctx, r, launcher)
	if err != nil {
		return nil, errors.Join(err, d.Machine.Remove(context.WithoutCancel(ctx), d.folder(r.Name)), at.release())
	}
	return newCluster(d, launcher, r, password, at.release, unlock), nil
}

// found checks that there is room for a cluster, and writes down what is to be known of it.
func (d Deps) found(ctx context.Context, r *record, launcher engine.Launcher) (engine.Secret, error) {
	folder := d.folder(r.Name)
	if r.Machines != nil {
		if err := r.Machines.fit(launcher, r.node(0, folder, "")); err != nil {
			return "", err
		}
	}
	var nodes []engine.Node
	for i := range r.Nodes {
		nodes = append(nodes, r.node(i, folder, ""))
	}
	if err := d.checkRoom(ctx, launcher, nodes); err != nil {
		return "", err
	}
	if r.layered() {
		if err := d.checkLayer(ctx); err != nil {
			return "", err
		}
	}
	if r.Machines != nil {
		if err := d.checkMachines(ctx, r); err != nil {
			return "", err
		}
	}
	if err := d.Machine.MakeDir(ctx, folder); err != nil {
		return "", fmt.Errorf("make the cluster's folder: %w", err)
	}
	if err := r.write(ctx, d.Machine, folder); err != nil {
		return "", err
	}
	return makePassword(ctx, d.Machine, folder)
}

// build makes the nodes' data and starts them.
func (c *Cluster) build(ctx context.Context) error {
	for _, m := range c.members {
		if err := c.makeNode(ctx, m, c.members[0]); err != nil {
			return err
		}
	}
	for _, m := range c.members {
		if err := c.start(ctx, m); err != nil {
			return err
		}
	}
	c.record.Complete = true
	return c.record.write(ctx, c.deps.Machine, c.folder)
}

// makeNode makes a node's folder with all that it needs to be started: a copy of the data of a node that does not run,
// where a copy can be a node of its own; otherwise, and for the first, an empty data set.
func (c *Cluster) makeNode(ctx context.Context, m, from *member) error {
	if err := c.equip(ctx, m); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	for _, folder := range []string{m.Dir, m.Run(), m.Temp()} {
		if err := c.on(m).MakeDir(ctx, folder); err != nil {
			return fmt.Errorf("%s: make its folder: %w", m.Name, err)
		}
	}
	if c.record.Disk != nil {
		if _, err := c.putDisk(ctx, m, c.record.Disk); err != nil {
			return fmt.Errorf("%s: make its disk: %w", m.Name, err)
		}
	}
	if err := c.configure(ctx, m); err != nil {
		return err
	}
	var err error
	if cloner, ok := c.launcher.(engine.Cloner); ok && m != from && !c.record.hasMachine(m.Name) && !c.record.hasMachine(from.Name) {
		c.deps.say("%s: copy %s", m.Name, from.Name)
		err = cloner.Clone(ctx, c.deps.Machine, from.Node, m.Node)
	} else {
		c.deps.say("%s: make its data folder", m.Name)
		err = c.launcher.Init(ctx, c.on(m), m.Node)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// abandon takes away what was made so far, although ctx may have ended.
func (c *Cluster) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return c.Down(ctx)
}
