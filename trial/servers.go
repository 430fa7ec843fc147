package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/series"
)

// servers are the lab cluster that holds one data set, as large as the largest cell on it needs.
type servers struct {
	cluster *lab.Cluster
	product Product
	config  map[string]string // in force on every node
	fresh   bool              // nothing was changed in the data since it was last as kept
	unwatch func()            // ends the watch over deaths and waits for its end
}

// serversFor returns the servers of a cell's data set; the first time it makes them and loads the data.
func (r *runner) serversFor(ctx context.Context, c *cell) (*servers, error) {
	if s := r.servers[c.data]; s != nil {
		return s, nil
	}
	spec := lab.Spec{
		Name: r.clusterName(), Product: c.cluster.Engine, Version: c.cluster.Version,
		Nodes: r.nodesFor(c.data), Config: maps.Clone(r.trial.Cluster.Config),
	}
	deps := r.site.Lab
	deps.Say = func(text string) { r.observe(Stage{Doing: Starting, Detail: text, Share: -1}) }
	r.observe(Stage{Doing: Starting, Detail: strings.TrimSpace(spec.Product + " " + spec.Version), Share: -1})
	cluster, err := lab.Up(ctx, spec, deps)
	if err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	s := &servers{cluster: cluster, product: r.parts.Products[c.cluster.Engine], config: spec.Config}
	r.servers[c.data] = s
	s.unwatch = r.watchDeaths(cluster)
	return s, r.loadData(ctx, c, s)
}

// clusterName is unlike that of any other trial that runs now.
func (r *runner) clusterName() string {
	return fmt.Sprintf("trial-%s-%d", r.started.UTC().Format("150405"), r.trial.Seed%1000*10+uint64(len(r.servers)))
}

// nodesFor is how many nodes the cells of a data set need at most.
func (r *runner) nodesFor(data string) int {
	nodes := 1
	for _, c := range r.trial.cells {
		if c.data == data {
			nodes = max(nodes, c.cluster.Nodes)
		}
	}
	return nodes
}

// loadData prepares the workload's data and keeps a copy of it.
func (r *runner) loadData(ctx context.Context, c *cell, s *servers) error {
	if err := s.makeNamespace(ctx); err != nil {
		return err
	}
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	facts, err := db.Facts(ctx)
	if err != nil {
		return fmt.Errorf("ask the server what it is: %w", err)
	}
	r.product(s, facts)
	began := time.Now()
	r.observe(Stage{Doing: Loading, Detail: c.load.Workload, Share: 0})
	err = c.workload.Prepare(ctx, db, func(done, total int64, what string) {
		share := -1.0
		if total > 0 {
			share = float64(done) / float64(total)
		}
		r.observe(Stage{Doing: Loading, Detail: what, Share: share})
	})
	if err != nil {
		return fmt.Errorf("load the data of %s: %w", c.load.Workload, err)
	}
	r.happened(series.Event{Kind: "data.loaded", Name: c.load.Workload, Detail: map[string]any{"seconds": time.Since(began).Seconds()}})
	if r.trial.Phases.Restore == RestoreNever {
		return nil
	}
	r.observe(Stage{Doing: Loading, Detail: "keep a copy", Share: -1})
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

// product notes what runs, for environment.json.
func (r *runner) product(s *servers, facts engine.Facts) {
	if r.facts == nil {
		r.facts = map[string]string{}
	}
	key := ""
	if r.facts["product"] != "" && r.facts["version"] != facts.Version {
		key = "also_" // a comparison of versions
	}
	r.facts[key+"product"], r.facts[key+"version"] = facts.Product, facts.Version
	r.facts[key+"origin"] = s.cluster.Distribution().Origin
}

// watchDeaths makes an event of every server that ends by itself, until it is told to end.
func (r *runner) watchDeaths(cluster *lab.Cluster) (end func()) {
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
				r.happened(series.Event{Time: d.At, Kind: "node.died", Node: d.Node, Detail: detail})
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

// namespace is the database that a trial's data set stands in.
const namespace = "plimsoll"

// open connects to the whole cluster as its administrator, in the workload's database.
func (s *servers) open(ctx context.Context, nodes ...string) (engine.Database, error) {
	return s.connect(ctx, namespace, nodes...)
}

// makeNamespace makes the database that the data set is going to stand in.
func (s *servers) makeNamespace(ctx context.Context) error {
	db, err := s.connect(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	if n, ok := db.(engine.Namespaced); ok {
		return n.MakeNamespace(ctx, namespace)
	}
	return nil
}

func (s *servers) connect(ctx context.Context, namespace string, nodes ...string) (engine.Database, error) {
	target, err := s.cluster.Target(nodes...)
	if err != nil {
		return nil, err
	}
	target.Namespace = namespace
	db, err := s.product.Engine.Open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return db, nil
}

// stage brings the servers into a cell's state: its data, its settings, its nodes. It returns the names of its nodes.
func (r *runner) stage(ctx context.Context, c *cell, round int, s *servers) ([]string, error) {
	nodes := s.names(c.cluster.Nodes)
	if r.trial.Phases.Restore == RestoreNever {
		return nodes, r.adjust(ctx, c, s)
	}
	r.observe(Stage{Doing: Restoring, Cell: c.Name, Round: round, Share: -1})
	if !s.fresh {
		if err := s.cluster.Kill(ctx); err != nil { // what they have not written yet is thrown away anyway
			return nil, err
		}
		if err := s.cluster.Restore(ctx); err != nil {
			return nil, fmt.Errorf("put the data back: %w", err)
		}
	}
	s.fresh = false
	if !maps.Equal(s.config, c.cluster.Config) {
		if err := s.cluster.Reconfigure(ctx, c.cluster.Config); err != nil {
			return nil, err
		}
		s.config = maps.Clone(c.cluster.Config)
	}
	if err := s.cluster.Start(ctx, nodes...); err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	return nodes, nil
}

// names are the first n nodes.
func (s *servers) names(n int) []string {
	var names []string
	for _, node := range s.cluster.Nodes()[:n] {
		names = append(names, node.Name)
	}
	return names
}

// adjust changes the settings of servers that run on, by a restart only where the server demands one.
func (r *runner) adjust(ctx context.Context, c *cell, s *servers) error {
	want := c.cluster.Config
	if maps.Equal(s.config, want) {
		return nil
	}
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	restart := false
	for name := range s.config {
		if _, kept := want[name]; !kept {
			restart = true // back to a default that only the server knows
		}
	}
	settings, ok := db.(engine.Configurable)
	for name, value := range want {
		if s.config[name] == value || restart {
			continue
		}
		if !ok {
			restart = true
			break
		}
		err := settings.Change(ctx, name, value)
		var needs *engine.NeedsRestart
		if errors.As(err, &needs) {
			restart = true
			break
		}
		if err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	if restart {
		if err := s.cluster.Reconfigure(ctx, want); err != nil {
			return err
		}
	}
	s.config = maps.Clone(want)
	return nil
}

// verify reads every setting of a cell back and refuses to measure what is not so.
func (r *runner) verify(ctx context.Context, c *cell, db engine.Database) error {
	settings, ok := db.(engine.Configurable)
	if !ok {
		return nil
	}
	for name, wrote := range c.cluster.Config {
		shown, err := settings.Setting(ctx, name)
		if err != nil {
			return fmt.Errorf("read the setting %s back: %w", name, err)
		}
		if !settings.SameValue(name, wrote, shown) {
			return fmt.Errorf("the server runs with %s = %s although %s was asked for", name, shown, wrote)
		}
		r.settings = noteSetting(r.settings, Setting{Cell: c.Name, Name: name, Wrote: wrote, Shown: shown})
	}
	return nil
}

func noteSetting(all []Setting, s Setting) []Setting {
	for _, have := range all {
		if have == s {
			return all
		}
	}
	return append(all, s)
}

// down takes the cluster away.
func (s *servers) down(ctx context.Context) error {
	s.unwatch()
	return s.cluster.Down(ctx)
}
