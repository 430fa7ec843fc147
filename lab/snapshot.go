package lab

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"plimsoll/engine"
)

// copied says that a node's data came from another by a snapshot. Its own is kept beside it until it is reverted.
type copied struct {
	Of   string `json:"of"`
	Done bool   `json:"done"`
}

// snapshot gives a node that does not run the data of another as it is at one moment, as a snapshot of its volume would:
// the server recovers from it as from a crash. The other may run; then it is frozen while its files are copied, for which a
// real volume needs no time, and frozen says how long that took. What the node had before is kept for revert.
func (m *member) snapshot(ctx context.Context, source *member) (frozen time.Duration, err error) {
	cloner, ok := m.launcher.(engine.Cloner)
	switch {
	case source.host.own() || m.host.own():
		return 0, errors.New("data is not copied from machine to machine")
	case !ok:
		return 0, fmt.Errorf("%s: its servers cannot start with a copy of another server's data", m.Name)
	case source == m:
		return 0, fmt.Errorf("%s cannot become a copy of itself", m.Name)
	case m.state() != Stopped:
		return 0, fmt.Errorf("%s is running: its data cannot be replaced", m.Name)
	}
	if err := m.setAside(ctx, source.Name); err != nil {
		return 0, err
	}
	m.deps.say("%s: take a snapshot of %s", m.Name, source.Name)
	if frozen, err = source.still(ctx, func() error { return cloner.Clone(ctx, m.deps.Machine, source.Node, m.Node) }); err != nil {
		return frozen, fmt.Errorf("%s: %w", m.Name, err)
	}
	return frozen, m.noteCopy(ctx, &copied{Of: source.Name, Done: true})
}

// revert gives a node that does not run back what it had before a snapshot. It is fine if there was none.
func (m *member) revert(ctx context.Context) error {
	if m.record.copyOf(m.Name) == nil {
		return nil
	}
	if m.state() != Stopped {
		return fmt.Errorf("%s is running: its data cannot be replaced", m.Name)
	}
	files, err := m.host.machine().List(ctx, m.aside())
	if err != nil {
		return fmt.Errorf("%s: look for its own data: %w", m.Name, err)
	}
	if len(files) > 0 { // else a revert was cut off after its last step but one
		if err := m.host.machine().CopyTree(ctx, m.aside(), m.Data()); err != nil {
			return fmt.Errorf("%s: restore its own data: %w", m.Name, err)
		}
	}
	if err := m.host.machine().Remove(ctx, m.aside()); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return m.noteCopy(ctx, nil)
}

// setAside keeps what a node has, once: what is in its place afterwards may be half a copy.
func (m *member) setAside(ctx context.Context, from string) error {
	if m.record.copyOf(m.Name) == nil {
		if err := m.host.machine().CopyTree(ctx, m.Data(), m.aside()); err != nil {
			return fmt.Errorf("%s: set its data aside: %w", m.Name, err)
		}
	}
	return m.noteCopy(ctx, &copied{Of: from})
}

// still does something while a node writes nothing, and lets it go on whatever happens.
func (m *member) still(ctx context.Context, do func() error) (time.Duration, error) {
	if m.state() == Stopped {
		return 0, do()
	}
	began := time.Now()
	if err := m.suspend(ctx, "STOP"); err != nil {
		return 0, err
	}
	err := do()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), thawTime)
	defer cancel()
	err = errors.Join(err, m.suspend(last, "CONT"))
	return time.Since(began), err
}

func (m *member) aside() string { return path.Join(m.Dir, "own") }

func (m *member) noteCopy(ctx context.Context, of *copied) error {
	return m.note(ctx, func(n *nodeRecord) { n.Copied = of })
}
