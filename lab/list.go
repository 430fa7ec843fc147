package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/infra"
)

// Status is what can be seen of a cluster from outside.
type Status struct {
	Name    string       `json:"name"`
	Product string       `json:"product,omitempty"`
	Version string       `json:"version,omitempty"`
	Origin  string       `json:"origin,omitempty"`
	Made    time.Time    `json:"made,omitzero"`
	Nodes   []NodeStatus `json:"nodes"`
	Folder  string       `json:"folder"`
	Broken  string       `json:"broken,omitempty"` // why it can only be taken down: left by a Plimsoll that was killed
}

// NodeStatus is a node of a Status.
type NodeStatus struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"` // host:port
	State   State  `json:"state"`             // running or stopped
	PID     int    `json:"pid,omitempty"`
}

// List returns every cluster in the state folder, and every one of which there is only a process left, by name.
func List(ctx context.Context, deps Deps) ([]Status, error) {
	d, err := deps.withDefaults()
	if err != nil {
		return nil, err
	}
	folders, err := d.Machine.List(ctx, d.clusters())
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	processes, err := d.Machine.Find(ctx, d.clusters())
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	running := map[string]map[string]infra.Process{} // by cluster and node
	for _, folder := range folders {
		if validName.MatchString(folder) { // and not a lock
			running[folder] = map[string]infra.Process{}
		}
	}
	for _, p := range processes {
		name, node, _ := strings.Cut(strings.TrimPrefix(p.Mark(), d.clusters()+"/"), "/")
		if running[name] == nil {
			running[name] = map[string]infra.Process{}
		}
		if running[name][node] == nil || p.Leads() {
			running[name][node] = p
		}
	}
	var all []Status
	for _, name := range slices.Sorted(maps.Keys(running)) {
		all = append(all, d.status(ctx, name, running[name]))
	}
	return all, nil
}

func (d Deps) status(ctx context.Context, name string, running map[string]infra.Process) Status {
	s := Status{Name: name, Folder: d.folder(name), Nodes: []NodeStatus{}}
	r, err := readRecord(ctx, d.Machine, d.folder(name))
	if err != nil {
		s.Broken = err.Error()
		for _, node := range slices.Sorted(maps.Keys(running)) {
			s.Nodes = append(s.Nodes, NodeStatus{Name: node, State: Running, PID: running[node].ID()})
		}
		return s
	}
	s.Product, s.Version, s.Origin, s.Made = r.Dist.Product, r.Dist.Exact, r.Dist.Origin, r.Made
	if !r.Complete {
		s.Broken = "it was never completed, or is being made"
	}
	for _, n := range r.Nodes {
		status := NodeStatus{Name: n.name(), Address: fmt.Sprintf("%s:%d", n.Address, r.Port), State: Stopped}
		if p := running[n.name()]; p != nil {
			status.State, status.PID = Running, p.ID()
		}
		s.Nodes = append(s.Nodes, status)
	}
	return s
}
