package run

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/lab"
	"plimsoll/probe"
	"plimsoll/series"
	"plimsoll/trial/judge"
	"plimsoll/trial/spec"
)

// watch reads every node's signals while a cell is measured.
type watch struct {
	runner  *runner
	servers *servers
	of      []string // namespaces of the cell's data
	probing sync.WaitGroup
	seen    map[string]bool            // nodes whose processes are watched
	bases   map[string]engine.Database // of nodes that have answered
	arrays  *cluster.Cluster           // whose machines may have Super Disks; nil: not reached yet
	closers []io.Closer                // of watched series

	turn   sync.Mutex
	points []series.Point // of what tells whether a node is warm, and of the signals that expectations name
}

func (r *runner) watch(s *servers, sets []spec.Dataset) *watch {
	var of []string
	for _, set := range sets {
		if !slices.Contains(of, set.Namespace) {
			of = append(of, set.Namespace)
		}
	}
	return &watch{runner: r, servers: s, of: of, seen: map[string]bool{}, bases: map[string]engine.Database{}}
}

// follow takes in the nodes that came since it was last called, as far as they let us in within a time. They are watched until
// ctx ends.
func (w *watch) follow(ctx context.Context, within time.Duration) {
	w.followArrays(ctx)
	if w.servers.existing != nil {
		if w.bases[spec.ExistingNode] != nil {
			return
		}
		if db, err := w.servers.open(ctx, spec.Dataset{}); err == nil {
			w.bases[spec.ExistingNode] = db
			w.collect(ctx, spec.ExistingNode, probe.NewStatus(spec.ExistingNode, db))
		}
		return
	}
	var strangers []string
	for _, node := range w.servers.cluster.Nodes() {
		if node.PID == 0 {
			continue
		}
		if !w.seen[node.Name] {
			w.seen[node.Name] = true
			if w.runner.trial.Limited() {
				w.collect(ctx, node.Name, w.servers.newDiskProbe(node.Name))
			}
			w.collect(ctx, node.Name, probe.NewProcess(node.Name, w.runner.options.Lab.Machine, func() int { return w.servers.processOf(node.Name) }))
		}
		if w.bases[node.Name] == nil {
			strangers = append(strangers, node.Name)
		}
	}
	for i, db := range w.enterAll(ctx, strangers, within) {
		if node := strangers[i]; db != nil { // else it is asked again when follow is called again
			w.bases[node] = db
			w.collect(ctx, node, probe.NewStatus(node, db))
		}
	}
}

// enterAll connects to nodes at the same time; nil of one that does not let us in.
func (w *watch) enterAll(ctx context.Context, nodes []string, within time.Duration) []engine.Database {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	all := make([]engine.Database, len(nodes))
	var entering sync.WaitGroup
	for i, node := range nodes {
		entering.Go(func() {
			if db, err := w.enter(ctx, node); err == nil {
				all[i] = db
			}
		})
	}
	entering.Wait()
	return all
}

// enter connects to a node, and to no other, in the data set's database, which a server that is part of nothing yet, or has
// a data set of another name, does not have.
func (w *watch) enter(ctx context.Context, node string) (engine.Database, error) {
	db, err := w.servers.connectAlone(ctx, spec.Namespace, node)
	if engine.ClassOf(err) == engine.Missing {
		return w.servers.connectAlone(ctx, "", node)
	}
	return db, err
}

func (w *watch) collect(ctx context.Context, node string, p probe.Probe) {
	w.collectEvery(ctx, time.Second, node, p)
}

func (w *watch) collectEvery(ctx context.Context, every time.Duration, node string, p probe.Probe) {
	w.probing.Go(func() {
		probe.Collect(ctx, every, []probe.Probe{p}, w.take, func(err error) {
			w.runner.happened(series.Event{Kind: series.ProbeFailed, Node: node, Detail: map[string]any{"error": err.Error()}})
		})
	})
}

func (w *watch) take(points []series.Point) {
	if err := w.runner.folder.Signals(points); err != nil {
		w.runner.options.Log.Warn("signals not written", "error", err)
	}
	w.remember(points)
}

// remember keeps what is needed when the cell is over.
func (w *watch) remember(points []series.Point) {
	w.turn.Lock()
	defer w.turn.Unlock()
	for _, p := range points {
		if strings.HasSuffix(p.Signal, judge.MissShare) || strings.HasSuffix(p.Signal, judge.MissRate) || w.runner.trial.NamesSignal(p.Signal) {
			w.points = append(w.points, p)
		}
	}
}

// end waits for the probes, whose context has ended.
func (w *watch) end() {
	w.probing.Wait()
	if w.arrays != nil {
		_ = w.arrays.Close() // it was only looked at
	}
	for _, db := range w.bases {
		_ = db.Close() // it was only read from
	}
	for _, c := range w.closers {
		_ = c.Close() // it was only read from
	}
}

func (s *servers) processOf(name string) int {
	for _, node := range s.cluster.Nodes() {
		if node.Name == name {
			return node.PID
		}
	}
	return 0
}

// diskOf reads how a node's disk is, for a probe.
func (s *servers) diskOf(node string) func(context.Context) (probe.DiskReading, error) {
	return func(ctx context.Context) (probe.DiskReading, error) {
		state, err := s.cluster.Server(node).DiskState(ctx)
		if errors.Is(err, lab.ErrNoDisk) {
			return probe.DiskReading{}, nil
		}
		return probe.DiskReading{At: state.At, Balance: state.Balance, Limit: state.IOPS, Reads: state.Reads, Writes: state.Writes}, err
	}
}

// newDiskProbe reads a node's disk once a second.
func (s *servers) newDiskProbe(node string) probe.Probe { return probe.NewDisk(node, s.diskOf(node)) }

// arraysEvery is the time between two looks at a machine's arrays, each of which is a command there.
const arraysEvery = 2 * time.Second

// followArrays watches the Super Disks of nodes that have machines of their own: those of a lab with machines, and those that the
// inventory says how to reach.
func (w *watch) followArrays(ctx context.Context) {
	if w.arrays == nil && !w.reachArrays(ctx) {
		return
	}
	nodes, err := w.arrays.List(ctx)
	if err != nil {
		return // asked again when follow is called again
	}
	for _, n := range append(nodes, w.arrays.Spares...) {
		at := "array of " + n.Name
		if w.seen[at] || !w.hasMachine(n) {
			continue
		}
		w.seen[at] = true
		machine := func(ctx context.Context) (infra.Machine, error) { return w.arrays.Machine(ctx, n.Name) }
		w.collectEvery(ctx, arraysEvery, n.Name, probe.NewSuperDisk(n.Name, machine))
	}
}

// hasMachine tells whether a node has a machine other than the one that Plimsoll runs on.
func (w *watch) hasMachine(n cluster.Node) bool {
	if w.servers.existing == nil {
		return n.Host != nil
	}
	return n.Machine != nil && n.Machine != w.runner.options.Lab.Machine
}

// reachArrays opens the cluster, once.
func (w *watch) reachArrays(ctx context.Context) bool {
	if w.seen["arrays"] {
		return false
	}
	w.seen["arrays"] = true
	e := w.runner.trial.Existing
	if e != nil && (!e.Listed || w.runner.parts.OpenCluster == nil) {
		return false
	}
	on, err := w.runner.clusterOf(ctx, w.runner.nameOf(w.servers))
	if err != nil {
		w.runner.happened(series.Event{Kind: series.ProbeFailed, Detail: map[string]any{"error": err.Error()}})
		return false
	}
	w.arrays = on
	return true
}
