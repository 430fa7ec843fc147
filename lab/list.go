package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
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
	Machine State  `json:"machine,omitempty"` // running or stopped; empty when it has none of its own
	Role    string `json:"role,omitempty"`    // primary, replica, read only or writable, as the server says; empty when it does not, or all are alike
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
	running := byNode(d, processes)
	for _, folder := range folders {
		if validName.MatchString(folder) && running[folder] == nil { // and not a lock
			running[folder] = map[string]infra.Process{}
		}
	}
	var all []Status
	for _, name := range slices.Sorted(maps.Keys(running)) {
		all = append(all, d.status(ctx, name, running[name]))
	}
	return all, nil
}

// byNode are the processes of servers, by cluster and node.
func byNode(d Deps, processes []infra.Process) map[string]map[string]infra.Process {
	running := map[string]map[string]infra.Process{}
	for _, p := range processes {
		name, node, _ := strings.Cut(strings.TrimPrefix(p.Mark(), d.clusters()+"/"), "/")
		if running[name] == nil {
			running[name] = map[string]infra.Process{}
		}
		if strings.Contains(node, "/") {
			continue // not a server: the layer beneath one
		}
		if running[name][node] == nil || p.Leads() {
			running[name][node] = p
		}
	}
	return running
}

// hasStopped tells whether a cluster that can be started has a server that does not run.
func hasStopped(ctx context.Context, d Deps, name string, processes []infra.Process) bool {
	r, err := readRecord(ctx, d.Machine, d.folder(name))
	return err == nil && r.Complete && slices.ContainsFunc(states(ctx, d, r, byNode(d, processes)[name]), func(n NodeStatus) bool { return n.State == Stopped })
}

// states are the nodes of a cluster, and whether their servers run.
func states(ctx context.Context, d Deps, r *record, running map[string]infra.Process) []NodeStatus {
	nodes := []NodeStatus{}
	for _, n := range r.Nodes {
		status := NodeStatus{Name: n.name(), Address: fmt.Sprintf("%s:%d", n.Address, r.Port), State: Stopped}
		if p := running[n.name()]; p != nil {
			status.State, status.PID = Running, p.ID()
		}
		nodes = append(nodes, status)
	}
	if r.Machines != nil {
		d.machineStates(ctx, r, nodes)
	}
	return nodes
}

func (d Deps) status(ctx context.Context, name string, running map[string]infra.Process) Status {
	s := Status{Name: name, Folder: d.folder(name), Nodes: []NodeStatus{}}
	r, err := readRecord(ctx, d.Machine, d.folder(name))
	if err != nil {
		s.Broken = err.Error()
		if errors.Is(err, ErrNoCluster) {
			s.Broken = "its creation was interrupted, or has just begun: it has no record"
		}
		for _, node := range slices.Sorted(maps.Keys(running)) {
			s.Nodes = append(s.Nodes, NodeStatus{Name: node, State: Running, PID: running[node].ID()})
		}
		return s
	}
	s.Product, s.Version, s.Origin, s.Made = r.Dist.Product, r.Dist.Exact, r.Dist.Origin, r.Made
	if !r.Complete {
		s.Broken = "its creation was never completed, or is still running"
	}
	s.Nodes = states(ctx, d, r, running)
	d.roles(ctx, r, s.Nodes)
	return s
}

// roles asks the nodes that run which parts they play.
func (d Deps) roles(ctx context.Context, r *record, nodes []NodeStatus) {
	l, err := d.launcher(r.Dist.Product)
	if err != nil {
		return
	}
	replicator, ok := l.(engine.Replicator)
	if !ok || r.readPassword(ctx) != nil {
		return
	}
	var running []engine.Node
	var at []int
	for i := range nodes {
		if nodes[i].State == Running {
			running, at = append(running, r.nodeAt(i)), append(at, i)
		}
	}
	standings := d.statuses(ctx, replicator, running)
	primary := engine.PrimaryOf(standings)
	for i, s := range standings {
		switch {
		case s == nil:
		case i == primary:
			nodes[at[i]].Role = "primary"
		case len(s.Sources) > 0:
			nodes[at[i]].Role = "replica"
		case s.ReadOnly:
			nodes[at[i]].Role = "read only"
		default:
			nodes[at[i]].Role = "writable" // beside the primary
		}
	}
}
