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
	return c.operation(ctx, func() error { return backup{c}.take(ctx) })
}

// Restore brings the cluster back to what Save kept: its data, and its nodes. Nodes that run are killed for it, as their
// data is thrown away, and started again; nodes added since are removed, and removed ones made again, which run if any did;
// settings stay as they are, but for those of single nodes.
func (c *Cluster) Restore(ctx context.Context) error {
	return c.operation(ctx, func() error { return backup{c}.restore(ctx) })
}

// backup is the copy that is kept of a cluster's data.
type backup struct{ of *Cluster }

func (b backup) take(ctx context.Context) error {
	ran, err := b.endAll(ctx, func(m *member) error { return m.stop(ctx) })
	if err != nil {
		return err
	}
	// Half a copy is none: the record lists what is kept only when all of it is.
	if err := b.note(ctx, nil); err != nil {
		return err
	}
	for _, m := range b.of.roster.all() {
		m.deps.say("%s: keep a copy of its data", m.Name)
		if err := m.host.machine().MakeDir(ctx, path.Dir(m.kept())); err != nil {
			return fmt.Errorf("keep the data of %s: %w", m.Name, err)
		}
		if err := m.host.machine().CopyTree(ctx, m.Data(), m.kept()); err != nil {
			return fmt.Errorf("keep the data of %s: %w", m.Name, err)
		}
	}
	if err := b.note(ctx, slices.Clone(b.of.record.Nodes)); err != nil {
		return err
	}
	return b.of.membership().startAll(ctx, ran)
}

func (b backup) restore(ctx context.Context) error {
	if len(b.of.record.Kept) == 0 {
		return errors.New("restore: there is no copy")
	}
	ran, err := b.endAll(ctx, func(m *member) error { return m.end(ctx, "KILL") })
	if err != nil {
		return err
	}
	if ran, err = b.match(ctx, ran); err != nil {
		return err
	}
	for _, m := range b.of.roster.all() {
		m.deps.say("%s: restore its data", m.Name)
		if err := m.layer.lift(ctx, m.Node); err != nil { // of a server that ended by itself
			return err
		}
		// The old data goes first: there need not be room for three.
		if err := m.host.machine().Remove(ctx, m.Data()); err != nil {
			return fmt.Errorf("restore the data of %s: %w", m.Name, err)
		}
		if err := m.host.machine().CopyTree(ctx, m.kept(), m.Data()); err != nil {
			return fmt.Errorf("restore the data of %s: %w", m.Name, err)
		}
		if err := m.made(ctx); err != nil {
			return err
		}
	}
	return b.of.membership().startAll(ctx, ran)
}

// match brings the nodes, but for their data, back to those that were kept. It returns which are to run, of those that ran.
func (b backup) match(ctx context.Context, ran []*member) ([]*member, error) {
	c := b.of
	config, runs := c.record.Nodes[0].Config, len(ran) > 0
	for _, kept := range c.record.Kept {
		if at := c.record.find(kept.name()); at >= 0 {
			kept.Config = c.record.Nodes[at].Config
			if err := c.record.note(ctx, kept.name(), func(n *nodeRecord) { *n = kept }); err != nil {
				return nil, err
			}
			continue
		}
		kept.Config, kept.Unmade = maps.Clone(config), true
		m, err := c.Growth().append(ctx, kept)
		if err != nil {
			return nil, err
		}
		if m.host.own() {
			return nil, fmt.Errorf("%s was removed with its machine, together with the copy of its data", m.Name)
		}
		if err := m.folders(ctx); err != nil {
			return nil, err
		}
		if runs {
			ran = append(ran, m)
		}
	}
	for _, m := range c.roster.all() {
		if slices.ContainsFunc(c.record.Kept, func(n nodeRecord) bool { return n.name() == m.Name }) {
			continue
		}
		if err := c.Growth().remove(ctx, m); err != nil {
			return nil, err
		}
		ran = slices.DeleteFunc(ran, func(r *member) bool { return r == m })
	}
	c.roster.sort()
	c.record.sort()
	c.roster.lead(c.roster.first().Name) // until they are asked
	return ran, c.record.save(ctx)
}

// endAll ends all nodes that run and returns them.
func (b backup) endAll(ctx context.Context, how func(*member) error) ([]*member, error) {
	var ran []*member
	for _, m := range b.of.roster.all() {
		if m.state() != Stopped {
			ran = append(ran, m)
		}
	}
	return ran, b.of.membership().endAll(ctx, ran, how)
}

// note records of which nodes there is a copy.
func (b backup) note(ctx context.Context, nodes []nodeRecord) error {
	return b.of.record.change(ctx, func(r *record) { r.Kept = nodes })
}

// kept is where the copy of a node's data is.
func (m *member) kept() string {
	if m.host.own() {
		return path.Join(m.Dir, "kept", m.Name)
	}
	return path.Join(m.record.folder, "kept", m.Name)
}
