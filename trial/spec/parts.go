package spec

import (
	"context"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/loader"
	"plimsoll/runbook"
	"plimsoll/runbook/lock"
	"plimsoll/watch/collect"
	"plimsoll/watch/live"
	"plimsoll/workload"
)

// Parts are what a trial is put together from: all that ships, as catalog lists it.
type Parts struct {
	Products map[string]Product // by what cluster.engine calls them
	// Engines are those that targets can be of, by the beginning of their address.
	Engines map[string]engine.Engine
	// Inventory reads the clusters that exist.
	Inventory func() (*inventory.Inventory, error)
	// OpenCluster opens a cluster of the inventory for the runbooks of a timeline; commands run on the machine.
	OpenCluster func(ctx context.Context, name string, here infra.Machine) (*cluster.Cluster, error)
	Faults      []Fault         // what a timeline does to a cluster of its own, by names that are no runbooks
	Actions     []action.Action // of runbooks
	Books       []string        // the names of those that ship
	// Runbook reads one that ships, or a file. A name that is neither is refused.
	Runbook     func(name *document.Node) (*runbook.Runbook, error)
	ClusterLock func(*cluster.Cluster) lock.ClusterLock // the claim of a run in the cluster itself
	// Watch reads the series of a cluster as a watch would, for guardrails and expectations that name them; a trial's queries are among them.
	Watch func(context.Context, *cluster.Cluster, []collect.Query) (*live.Reader, error)
	// CheckWatched refuses an expression in PromQL over series that no watch writes, and that none of a trial's queries makes.
	CheckWatched func(expression string, queries []collect.Query) error
	// Loader makes the process that issues a load from a machine, by what load.from calls it. nil: there is no such machine.
	Loader func(name string) (*loader.Loader, error)
	// Loaders are the names that are known beforehand, for messages.
	Loaders func() []string
	// Workload makes the workload of a name, or of the file of that name.
	Workload func(name, parameters *document.Node, e engine.Engine) (workload.Workload, error)
}

// Product is a database product that a lab can run.
type Product struct {
	Engine   engine.Engine
	Launcher engine.Launcher
}

// Fault returns the fault of a name.
func (p Parts) Fault(name string) (*Fault, bool) {
	at := slices.IndexFunc(p.Faults, func(f Fault) bool { return f.Name == name })
	if at < 0 {
		return nil, false
	}
	return &p.Faults[at], true
}

// actionNames are the actions that a timeline can use.
func (p Parts) actionNames() []string {
	names := make([]string, len(p.Actions))
	for i, a := range p.Actions {
		names[i] = a.Name
	}
	return names
}

// changeNames are all names that a timeline can run.
func (p Parts) changeNames() []string {
	names := slices.Clone(p.Books)
	for _, f := range p.Faults {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
