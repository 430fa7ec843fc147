package run

import (
	"context"
	"time"

	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/probe"
	"plimsoll/series"
)

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
