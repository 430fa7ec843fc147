package trial

import (
	"context"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/workload"
)

// Parts are what a trial is put together from: all that ships, as catalog lists it.
type Parts struct {
	Products map[string]Product // by what cluster.engine calls them
	Changes  []Change
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

func (p Parts) change(name string) (Change, bool) {
	for _, c := range p.Changes {
		if c.Name() == name {
			return c, true
		}
	}
	return nil, false
}

func (p Parts) changeNames() []string {
	names := make([]string, len(p.Changes))
	for i, c := range p.Changes {
		names[i] = c.Name()
	}
	return names
}
