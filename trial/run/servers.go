package run

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"plimsoll/trial/progress"
	"plimsoll/trial/spec"

	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/series"
)

// servers are what holds one data set: a lab cluster, as large as the largest cell on it needs, or a cluster that exists.
type servers struct {
	cluster   *lab.Cluster
	existing  *engine.Target // in place of cluster
	engine    engine.Engine
	config    map[string]string // in force on every node
	account   engine.Secret     // of the user who loads; empty: the engine knows none, and the administrator does
	idle      []string          // nodes that the cell at hand does not use
	unsettled bool              // a change gave nodes other settings
	equipped  bool              // its machines are prepared, which lasts: the cells on this data set prepare them alike
	fresh     bool              // nothing was changed in the data since it was last as kept
	unwatch   func()            // ends the watch over deaths and waits for its end
}

// prepare returns the servers of a cell's data set, and keeps the time if it had to make them.
func (r *runner) prepare(ctx context.Context, c *spec.Cell) (*servers, error) {
	if s := r.servers[c.Data]; s != nil {
		return s, nil
	}
	began := time.Now()
	s, err := serversFor(ctx, r, c)
	if err != nil {
		return nil, err
	}
	r.prepared++
	r.preparing += time.Since(began)
	r.observe(r.plan())
	return s, nil
}

// serversFor makes the servers of a cell's data set and loads the data, or connects to those that are there.
func serversFor(ctx context.Context, r *runner, c *spec.Cell) (*servers, error) {
	if e := r.trial.Existing; e != nil {
		s, err := r.serversOf(ctx, e)
		if err == nil {
			r.servers[c.Data] = s
		}
		return s, err
	}
	asked := lab.Spec{
		Name: clusterNameOf(r), Product: c.Cluster.Engine, Version: c.Cluster.Version,
		Nodes: nodesFor(r, c.Data), Config: maps.Clone(r.trial.Cluster.Config), Forgetful: r.trial.Cluster.Forgetful,
		Separate: r.trial.Cluster.Topology == spec.Separate, Machines: r.trial.Cluster.Machines.ForLab(),
	}
	if r.trial.Limited() { // when the data is loaded
		asked.Disk = lab.Unlimited()
	}
	for _, f := range r.trial.Faults(r.parts) {
		if f.Demand != nil {
			f.Demand(&asked)
		}
	}
	deps := r.options.Lab
	deps.Say = func(text string) {
		doing := progress.Starting
		switch {
		case r.stopping.Load():
			doing = progress.Stopping
		case r.live.Load() != nil: // there is load: something is done to the cluster
			doing = progress.Disturbing
		}
		r.observe(progress.Stage{Doing: doing, Detail: text, Share: -1})
	}
	r.observe(progress.Stage{Doing: progress.Starting, Detail: strings.TrimSpace(asked.Product + " " + asked.Version), Share: -1})
	if err := r.underway.Makes(ctx, asked.Name); err != nil {
		r.options.Log.Warn("if this process is killed, trial list will not name the cluster that it leaves", "error", err)
	}
	cluster, err := lab.Up(ctx, asked, deps)
	if err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	s := &servers{cluster: cluster, engine: r.parts.Products[c.Cluster.Engine].Engine, config: asked.Config}
	r.servers[c.Data] = s
	s.unwatch = watchDeaths(r, cluster)
	return s, loadData(ctx, r, c, s)
}

// clusterNameOf is unlike that of any other trial that runs now.
func clusterNameOf(r *runner) string {
	return fmt.Sprintf("trial-%s-%d", r.started.UTC().Format("150405"), r.trial.Seed%1000*10+uint64(len(r.servers)))
}

// nodesFor is how many nodes the cells of a data set need at most.
func nodesFor(r *runner, data string) int {
	nodes := 1
	for _, c := range r.trial.Cells {
		if c.Data == data {
			nodes = max(nodes, c.Cluster.Nodes)
		}
	}
	return nodes
}

// loadData prepares the workload's data and keeps a copy of it.
func loadData(ctx context.Context, r *runner, c *spec.Cell, s *servers) error {
	if len(r.trial.Tables) > 0 {
		if err := makeTables(ctx, r, s); err != nil {
			return err
		}
	}
	sets := c.Datasets(nil)
	for _, p := range sets {
		if err := s.makeNamespace(ctx, p); err != nil {
			return err
		}
	}
	all, err := s.openAll(ctx, sets)
	if err != nil {
		return err
	}
	defer func() { _ = closeAll(all) }() // what was to be written is
	db := all[0]
	facts, err := db.Facts(ctx)
	if err != nil {
		return fmt.Errorf("read the server's product and version: %w", err)
	}
	noteProduct(r, facts, s.cluster.Distribution().Origin)
	began := time.Now()
	r.observe(progress.Stage{Doing: progress.Loading, Detail: c.Load.Workload, Share: 0})
	for i, one := range all {
		err = c.Workload.Prepare(ctx, one, func(done, total int64, what string) {
			share := -1.0
			if total > 0 {
				share = (float64(i) + float64(done)/float64(total)) / float64(len(all))
			}
			r.observe(progress.Stage{Doing: progress.Loading, Detail: what, Share: share})
		})
		if err != nil {
			return fmt.Errorf("load the data of %s: %w", c.Load.Workload, err)
		}
	}
	if c.Beside != nil {
		if err := c.Beside.Prepare(ctx, db, nil); err != nil {
			return fmt.Errorf("create the ledger: %w", err)
		}
	}
	r.happened(series.Event{Kind: series.DataLoaded, Name: c.Load.Workload, Detail: map[string]any{"seconds": time.Since(began).Seconds()}})
	if r.trial.Phases.Restore == spec.RestoreNever {
		return nil
	}
	r.observe(progress.Stage{Doing: progress.Loading, Detail: "keep a copy", Share: -1})
	if err := r.waitQuiet(ctx, db, time.Minute); err != nil {
		return err
	}
	if err := s.cluster.Stop(ctx); err != nil {
		return err
	}
	if err := s.cluster.Save(ctx); err != nil {
		return fmt.Errorf("keep a copy of the data: %w", err)
	}
	s.fresh = true
	return nil
}

// noteProduct notes what runs, for environment.json.
func noteProduct(r *runner, facts engine.Facts, origin string) {
	if r.facts == nil {
		r.facts = map[string]string{}
	}
	key := ""
	if r.facts["product"] != "" && r.facts["version"] != facts.Version {
		key = "also_" // a comparison of versions
	}
	r.facts[key+"product"], r.facts[key+"version"] = facts.Product, facts.Version
	r.facts[key+"origin"] = origin
}

// watchDeaths makes an event of every server that ends by itself, until it is told to end.
func watchDeaths(r *runner, cluster *lab.Cluster) (end func()) {
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case d := <-cluster.Died():
				detail := map[string]any{"log": d.Log}
				if d.Cause != nil {
					detail["cause"] = d.Cause.Error()
				}
				r.happened(series.Event{Time: d.At, Kind: series.NodeDied, Node: d.Node, Detail: detail})
			case <-stop:
				return
			}
		}
	})
	return func() {
		close(stop)
		watch.Wait()
	}
}

// down takes the cluster away.
func (s *servers) down(ctx context.Context) error {
	if s.existing != nil {
		return nil
	}
	s.unwatch()
	return s.cluster.Down(ctx)
}

// shown are the nodes that run, by the names of their signals, and the one that takes the writes.
func (s *servers) shown(ctx context.Context) (nodes []string, primary string) {
	if s.existing != nil {
		return []string{spec.ExistingNode}, spec.ExistingNode
	}
	return s.serving(), s.cluster.Primary(ctx)
}
