package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/probe"
	"plimsoll/series"
)

// NodeMeter reads what the cluster's own databases show; of several nodes the largest value counts.
type NodeMeter struct {
	cluster *cluster.Cluster

	mu     sync.Mutex
	probes map[string]*probe.Status
	opened map[string]engine.Database
}

var _ Meter = (*NodeMeter)(nil)

// NewNodeMeter returns a meter of a cluster's databases, over the cluster's own connections.
func NewNodeMeter(on *cluster.Cluster) *NodeMeter {
	return &NodeMeter{cluster: on, probes: map[string]*probe.Status{}, opened: map[string]engine.Database{}}
}

// Read asks every node once, all at the same time. A node that does not answer is left out and holds up no other; it is an error
// when none does. It is called by one at a time.
func (m *NodeMeter) Read(ctx context.Context) (map[string]float64, error) {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	points, troubles := make([][]series.Point, len(nodes)), make([]error, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { points[i], troubles[i] = m.ask(ctx, n.Name) })
	}
	asking.Wait()
	values := map[string]float64{}
	for _, point := range slices.Concat(points...) {
		if v, seen := values[point.Signal]; !seen || point.Value > v {
			values[point.Signal] = point.Value
		}
	}
	if len(values) == 0 {
		return nil, errors.Join(append([]error{errors.New("no node shows metrics")}, troubles...)...)
	}
	return values, nil
}

func (m *NodeMeter) ask(ctx context.Context, node string) ([]series.Point, error) {
	db, err := m.cluster.Database(ctx, node)
	if err != nil {
		return nil, err
	}
	return m.probe(node, db).Read(ctx, time.Now())
}

// probe returns the probe of a node, a new one when its database was opened anew.
func (m *NodeMeter) probe(node string, db engine.Database) *probe.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.opened[node] != db {
		m.opened[node], m.probes[node] = db, probe.NewStatus(node, db)
	}
	return m.probes[node]
}
