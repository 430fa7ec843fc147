package lab

import (
	"context"
	"encoding/json"
	"fmt"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/lab/forgetful"
)

// PowerFail ends nodes as a loss of power would: each is killed, and what it had not synced is forgotten. Kill loses only
// what the server itself held back. It is for forgetful clusters.
func (c *Cluster) PowerFail(ctx context.Context, nodes ...string) (forgetful.Forgotten, error) {
	var all forgetful.Forgotten
	if !c.record.Forgetful {
		return all, hint.With(fmt.Errorf("cluster %s cannot lose unsynced writes, so it cannot have a power failure", c.Name()),
			"create it with cluster: {forgetful: true}")
	}
	err := c.each(ctx, nodes, func(ctx context.Context, m *member) error {
		f, err := c.powerFail(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		all = forgetful.Forgotten{Files: all.Files + f.Files, Bytes: all.Bytes + f.Bytes, Names: all.Names + f.Names}
		return nil
	})
	return all, err
}

func (c *Cluster) powerFail(ctx context.Context, m *member) (f forgetful.Forgotten, err error) {
	if m.layer == nil || c.stateOf(m) == Stopped {
		return f, fmt.Errorf("it is not running, so it cannot have a power failure")
	}
	if err := c.deps.Machine.Remove(ctx, layerReport(m.Node)); err != nil {
		return f, err
	}
	c.deps.say("%s: its power fails", m.Name)
	if err := c.endServer(ctx, m, "KILL"); err != nil {
		return f, err
	}
	if err := endLayer(ctx, m, "HUP"); err != nil {
		return f, err
	}
	data, err := c.deps.Machine.ReadFile(ctx, layerReport(m.Node))
	if err != nil {
		said, _ := infra.Tail(ctx, c.deps.Machine, layerLog(m.Node), 1<<10) // if it cannot be read it said nothing
		return f, fmt.Errorf("drop the unsynced writes: %w\n%s", err, said)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("read what was forgotten: %w", err)
	}
	return f, nil
}
