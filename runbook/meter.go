package runbook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/probe"
	"plimsoll/runbook/action"
)

// NodeMeter reads what the cluster's own databases show; of several nodes the largest value counts.
type NodeMeter struct {
	site   *action.Site
	mu     sync.Mutex
	probes map[string]*probe.Status
	opened map[string]engine.Database
}

var _ Meter = (*NodeMeter)(nil)

// NewNodeMeter returns a meter of a cluster's databases, over a site's own connections.
func NewNodeMeter(site *action.Site) *NodeMeter {
	return &NodeMeter{site: site, probes: map[string]*probe.Status{}, opened: map[string]engine.Database{}}
}

// Read asks every node once. A node that does not answer is left out; it is an error when none does.
func (m *NodeMeter) Read(ctx context.Context) (map[string]float64, error) {
	nodes, err := m.site.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	values := map[string]float64{}
	var all error
	for _, n := range nodes {
		p, err := m.probe(ctx, n.Name)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		points, err := p.Read(ctx, time.Now())
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		for _, point := range points {
			if v, seen := values[point.Signal]; !seen || point.Value > v {
				values[point.Signal] = point.Value
			}
		}
	}
	if len(values) == 0 {
		return nil, errors.Join(errors.New("no node shows metrics"), all)
	}
	return values, nil
}

// probe returns the probe of a node, a new one when its database was opened anew.
func (m *NodeMeter) probe(ctx context.Context, node string) (*probe.Status, error) {
	db, err := m.site.Database(ctx, node)
	if err != nil {
		return nil, err
	}
	if m.opened[node] != db {
		m.opened[node], m.probes[node] = db, probe.NewStatus(node, db)
	}
	return m.probes[node], nil
}
