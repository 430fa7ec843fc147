package lab

import (
	"context"
	"encoding/json"
	"fmt"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/lab/forgetful"
)

// PowerFail ends nodes as a loss of power would: each is killed, and what it had not synced is forgotten. Server.Kill loses only
// what the server itself held back. It is for forgetful clusters.
func (c *Cluster) PowerFail(ctx context.Context, nodes ...string) (forgetful.Forgotten, error) {
	var all forgetful.Forgotten
	if !c.record.Forgetful {
		return all, hint.With(fmt.Errorf("cluster %s cannot lose unsynced writes, so it cannot have a power failure", c.Name()),
			"create it with cluster: {forgetful: true}")
	}
	err := c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		f, err := m.powerFail(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		all = forgetful.Forgotten{Files: all.Files + f.Files, Bytes: all.Bytes + f.Bytes, Names: all.Names + f.Names}
		return nil
	})
	return all, err
}

func (m *member) powerFail(ctx context.Context) (forgetful.Forgotten, error) {
	if m.layer.process == nil || m.state() == Stopped {
		return forgetful.Forgotten{}, fmt.Errorf("it is not running, so it cannot have a power failure")
	}
	if err := m.deps.Machine.Remove(ctx, layerReport(m.Node)); err != nil {
		return forgetful.Forgotten{}, err
	}
	m.deps.say("%s: its power fails", m.Name)
	if err := m.endServer(ctx, "KILL"); err != nil {
		return forgetful.Forgotten{}, err
	}
	return m.layer.forget(ctx, m.Node)
}

// forget ends the layer without what was not synced, and tells how much that was.
func (l *layer) forget(ctx context.Context, n engine.Node) (f forgetful.Forgotten, err error) {
	if err := l.end(ctx, n, "HUP"); err != nil {
		return f, err
	}
	data, err := l.deps.Machine.ReadFile(ctx, layerReport(n))
	if err != nil {
		said, _ := infra.Tail(ctx, l.deps.Machine, layerLog(n), 1<<10) // if it cannot be read it said nothing
		return f, fmt.Errorf("drop the unsynced writes: %w\n%s", err, said)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("read which writes were lost: %w", err)
	}
	return f, nil
}
