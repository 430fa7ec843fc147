package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/cluster"
	"plimsoll/infra/uml"
)

// Host is the machine of a node with a kernel of its own, for those who hold its cluster: what its provider could do to it, and the faults
// that can be injected into it.
type Host struct {
	cluster *Cluster
	node    string
}

var _ cluster.FaultProneHost = Host{}

// own is the machine, and an error with a hint if the node has none of its own.
func (h Host) own() (*uml.Machine, error) {
	m, err := h.cluster.roster.find(h.node)
	if err != nil {
		return nil, err
	}
	return m.host.known()
}

// ID is what the cluster's volumes call it.
func (h Host) ID(context.Context) (string, error) { return h.node, nil }

// Running tells whether it runs.
func (h Host) Running(ctx context.Context) (bool, error) {
	m, err := h.own()
	if err != nil {
		return false, err
	}
	return m.Running(ctx)
}

// Boot starts it, if it does not run, with the volumes that it had. The server is not started.
func (h Host) Boot(ctx context.Context) error {
	return h.cluster.each(ctx, []string{h.node}, func(ctx context.Context, m *member) error {
		if !m.host.own() {
			return fmt.Errorf("node %s of cluster %s has no machine of its own", m.Name, h.cluster.Name())
		}
		return errors.Join(m.host.reach(ctx), m.host.boot(ctx, m.Node))
	})
}

// Kill ends it at once, as the loss of an instance would: what was not on its volumes is gone.
func (h Host) Kill(ctx context.Context) error {
	return h.cluster.each(ctx, []string{h.node}, func(ctx context.Context, m *member) error {
		machine, err := m.host.known()
		if err != nil {
			return err
		}
		m.process.forget()
		m.deps.say("%s: kill its machine", m.Name)
		return machine.Kill(ctx)
	})
}

// NetworkCut tells whether it is cut off from the others.
func (h Host) NetworkCut(ctx context.Context) (bool, error) {
	m, err := h.own()
	if err != nil {
		return false, err
	}
	return m.NetworkCut(ctx)
}

// CutNetwork drops all packets between it and the others.
func (h Host) CutNetwork(ctx context.Context) error {
	m, err := h.own()
	if err != nil {
		return err
	}
	return m.CutNetwork(ctx)
}

// MendNetwork lets packets through again.
func (h Host) MendNetwork(ctx context.Context) error {
	m, err := h.own()
	if err != nil {
		return err
	}
	return m.MendNetwork(ctx)
}

// Skew is how far its clock is before ours, negative when it is behind.
func (h Host) Skew(ctx context.Context) (time.Duration, error) {
	m, err := h.own()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	there, err := m.Clock(ctx)
	return there.Sub(began.Add(time.Since(began) / 2)), err
}

// SkewClock moves its clock so far from where it is.
func (h Host) SkewClock(ctx context.Context, by time.Duration) error {
	m, err := h.own()
	if err != nil {
		return err
	}
	return m.SkewClock(ctx, by)
}
