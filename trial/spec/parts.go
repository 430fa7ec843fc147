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
	"plimsoll/lab"
	"plimsoll/loader"
	"plimsoll/runbook"
	"plimsoll/runbook/lock"
	"plimsoll/series"
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
	// Site opens a cluster of the inventory for the runbooks of a timeline; commands run on the machine.
	Site    func(ctx context.Context, name string, here infra.Machine) (*cluster.Cluster, error)
	Changes []Change
	Actions []action.Action // of runbooks
	Books   []string        // the names of those that ship
	// Runbook reads one that ships, or a file. A name that is neither is refused.
	Runbook func(name *document.Node) (*runbook.Runbook, error)
	Marker  func(*cluster.Cluster) lock.ClusterLock // the claim of a run in the cluster itself
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

// Change is what a timeline runs while the load goes on, or a variant's prepare runs before it: an action of the lab.
type Change interface {
	// Name is how a trial asks for it: lab/restart.
	Name() string
	// Check refuses inputs that can never work, with their place, before anything is started.
	Check(c Call, nodes int) error
	// Run does it. It tells what happened when, for the result's events.
	Run(ctx context.Context, on *lab.Cluster, c Call, tell func(series.Event)) error
}

// Demanding is a Change that works only on clusters of a certain kind.
type Demanding interface {
	// Demand asks for it before the cluster is made.
	Demand(s *lab.Spec)
}

// Growing is a Change that adds nodes to the cluster.
type Growing interface {
	Change
	// Grows is how many.
	Grows() int
}

// Explained is a Change of which a reader of a result must know more than its name.
type Explained interface {
	// Explain says it in a sentence or two.
	Explain() string
}

// ResettingSettings is a change after which nodes have other settings than the trial gave them.
type ResettingSettings interface {
	Change
	Unsettles()
}

func (p Parts) grows(c Call) (Growing, bool) {
	change, _ := p.Change(c.Change)
	g, is := change.(Growing)
	return g, is
}

func (p Parts) Change(name string) (Change, bool) {
	for _, c := range p.Changes {
		if c.Name() == name {
			return c, true
		}
	}
	return nil, false
}

// changeNames are all names that a timeline can run.
func (p Parts) changeNames() []string {
	names := slices.Clone(p.Books)
	for _, c := range p.Changes {
		names = append(names, c.Name())
	}
	slices.Sort(names)
	return slices.Compact(names)
}
