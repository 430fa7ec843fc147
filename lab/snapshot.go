package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"plimsoll/engine"
)

// copied says that a node's data came from another by Snapshot. Its own is kept beside it until Revert.
type copied struct {
	Of   string `json:"of"`
	Done bool   `json:"done"`
}

// Snapshot gives a node that does not run the data of another as it is at one moment, as a snapshot of its volume would:
// the server recovers from it as from a crash. The other may run; then it is frozen while its files are copied, for which a
// real volume needs no time, and frozen says how long that took. What the node had before is kept for Revert.
func (c *Cluster) Snapshot(ctx context.Context, from, to string) (frozen time.Duration, err error) {
	err = c.operation(ctx, func() error {
		members, err := c.pick([]string{from, to})
		if err != nil {
			return err
		}
		source, m := members[0], members[1]
		cloner, ok := c.launcher.(engine.Cloner)
		switch {
		case c.record.hasMachine(source.Name) || c.record.hasMachine(m.Name):
			return errors.New("data is not copied from machine to machine")
		case !ok:
			return fmt.Errorf("%s: its servers cannot start with a copy of another server's data", m.Name)
		case source == m:
			return fmt.Errorf("%s cannot become a copy of itself", m.Name)
		case c.stateOf(m) != Stopped:
			return fmt.Errorf("%s is running: its data cannot be replaced", m.Name)
		}
		if err := c.setAside(ctx, m, from); err != nil {
			return err
		}
		c.deps.say("%s: take a snapshot of %s", m.Name, source.Name)
		if frozen, err = c.still(ctx, source, func() error { return cloner.Clone(ctx, c.deps.Machine, source.Node, m.Node) }); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		return c.noteCopy(ctx, m, &copied{Of: from, Done: true})
	})
	return frozen, err
}

// Revert gives a node that does not run back what it had before Snapshot. It is fine if there was none.
func (c *Cluster) Revert(ctx context.Context, node string) error {
	return c.operation(ctx, func() error {
		members, err := c.pick([]string{node})
		if err != nil {
			return err
		}
		m := members[0]
		if c.copyOf(m) == nil {
			return nil
		}
		if c.stateOf(m) != Stopped {
			return fmt.Errorf("%s is running: its data cannot be replaced", m.Name)
		}
		files, err := c.on(m).List(ctx, aside(m))
		if err != nil {
			return fmt.Errorf("%s: look for its own data: %w", m.Name, err)
		}
		if len(files) > 0 { // else a Revert was cut off after its last step but one
			if err := c.on(m).CopyTree(ctx, aside(m), m.Data()); err != nil {
				return fmt.Errorf("%s: bring its own data back: %w", m.Name, err)
			}
		}
		if err := c.on(m).Remove(ctx, aside(m)); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		return c.noteCopy(ctx, m, nil)
	})
}

// setAside keeps what a node has, once: what is in its place afterwards may be half a copy.
func (c *Cluster) setAside(ctx context.Context, m *member, from string) error {
	if c.copyOf(m) == nil {
		if err := c.on(m).CopyTree(ctx, m.Data(), aside(m)); err != nil {
			return fmt.Errorf("%s: set its data aside: %w", m.Name, err)
		}
	}
	return c.noteCopy(ctx, m, &copied{Of: from})
}

// still does something while a node writes nothing, and lets it go on whatever happens.
func (c *Cluster) still(ctx context.Context, m *member, do func() error) (time.Duration, error) {
	if c.stateOf(m) == Stopped {
		return 0, do()
	}
	began := time.Now()
	if err := c.suspend(ctx, m, "STOP"); err != nil {
		return 0, err
	}
	err := do()
	err = errors.Join(err, c.suspend(context.WithoutCancel(ctx), m, "CONT"))
	return time.Since(began), err
}

func aside(m *member) string { return path.Join(m.Dir, "own") }

func (c *Cluster) copyOf(m *member) *copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record.Nodes[c.record.find(m.Name)].Copied
}

func (c *Cluster) noteCopy(ctx context.Context, m *member, of *copied) error {
	return c.note(ctx, m, func(n *nodeRecord) { n.Copied = of })
}
