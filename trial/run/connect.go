package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/loader"
	"plimsoll/series"
	"plimsoll/trial/foresee"
	"plimsoll/trial/spec"
)

// open connects to a data set as its administrator.
func (s *servers) open(ctx context.Context, p spec.Dataset) (engine.Database, error) {
	return s.connect(ctx, p.Namespace, p.Nodes...)
}

// makeNamespace makes the database that a data set is going to stand in.
func (s *servers) makeNamespace(ctx context.Context, p spec.Dataset) error {
	db, err := s.connect(ctx, "", p.Nodes...)
	if err != nil {
		return err
	}
	defer db.Close()
	if n, ok := engine.As[engine.Namespaced](db); ok {
		if err := n.MakeNamespace(ctx, p.Namespace); err != nil {
			return err
		}
	}
	return s.makeAccount(ctx, db, p.Namespace)
}

// loadUser is the user whose operations are measured: like an application's, and unlike an administrator's, they end where a
// server is made read-only.
const loadUser = "load"

func (s *servers) makeAccount(ctx context.Context, db engine.Database, namespace string) error {
	a, ok := engine.As[engine.Namespaced](db)
	if !ok {
		return nil
	}
	if s.account == "" {
		s.account = engine.Secret(rand.Text())
	}
	return a.MakeAccount(ctx, loadUser, s.account, namespace)
}

// openLoad connects to a data set as the user who loads, in the way of a cell's load.
func (s *servers) openLoad(ctx context.Context, l spec.Load, p spec.Dataset) (engine.Database, error) {
	target, err := s.loadTarget(l, p)
	if err != nil {
		return nil, err
	}
	db, err := s.engine.Open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster as %s: %w", target.User, err)
	}
	return db, nil
}

// loadTarget is how to reach a data set as the user who loads, in the way of a load.
func (s *servers) loadTarget(l spec.Load, p spec.Dataset) (engine.Target, error) {
	target, err := s.target(p.Namespace, p.Nodes...)
	if s.account != "" {
		target.User, target.Password = loadUser, s.account
	}
	if l.Consistency != "" {
		target = target.With("consistency", l.Consistency)
	}
	return target, err
}

// target is how to reach the nodes, all of them if none is named, as their administrator. Those of an existing cluster are
// named by their addresses, and the trial names its database and its user.
func (s *servers) target(namespace string, nodes ...string) (engine.Target, error) {
	if s.existing != nil {
		target := *s.existing
		if len(nodes) > 0 {
			target.Addresses = nodes
		}
		return target, nil
	}
	target, err := s.cluster.Target(nodes...)
	target.Namespace = namespace
	return target, err
}

func (s *servers) connect(ctx context.Context, namespace string, nodes ...string) (engine.Database, error) {
	target, err := s.target(namespace, nodes...)
	if err != nil {
		return nil, err
	}
	return s.connectTo(ctx, target)
}

// connectAlone connects to one node, which would otherwise show what all nodes do, and be asked for them.
func (s *servers) connectAlone(ctx context.Context, namespace, node string) (engine.Database, error) {
	target, err := s.target(namespace, node)
	if err != nil {
		return nil, err
	}
	return s.connectTo(ctx, engine.Alone(s.engine, target))
}

func (s *servers) connectTo(ctx context.Context, target engine.Target) (engine.Database, error) {
	db, err := s.engine.Open(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return db, nil
}

// openAll opens some data sets as their administrator.
func (s *servers) openAll(ctx context.Context, sets []spec.Dataset) ([]engine.Database, error) {
	return each(sets, func(d spec.Dataset) (engine.Database, error) { return s.open(ctx, d) })
}

// openLoads opens them as the user who loads, in the way of the cell's load.
func (s *servers) openLoads(ctx context.Context, c *spec.Cell, sets []spec.Dataset) ([]engine.Database, error) {
	return each(sets, func(d spec.Dataset) (engine.Database, error) { return s.openLoad(ctx, c.Load, d) })
}

// each opens all or none.
func each(sets []spec.Dataset, open func(spec.Dataset) (engine.Database, error)) ([]engine.Database, error) {
	var all []engine.Database
	for _, d := range sets {
		db, err := open(d)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, db)
	}
	return all, nil
}

func closeAll(all []engine.Database) error {
	var errs []error
	for _, db := range all {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

// adopt fits the workload, and the ledger beside it, to the data that is there.
func adopt(ctx context.Context, c *spec.Cell, all []engine.Database, target *spec.ExistingCluster) error {
	for _, db := range all {
		if err := foresee.Adopt(ctx, c, db, target); err != nil {
			return err
		}
	}
	return nil
}

// issue is what issues a cell's load: on open data sets or over all nodes by this process, or by the loaders that the load
// names.
func (r *runner) issue(ctx context.Context, c *spec.Cell, s *servers, sets []spec.Dataset, sources []engine.Database, seed uint64) (load.Runner, placing, error) {
	if len(c.Load.From) == 0 {
		connect, over, err := r.connector(ctx, c, s, sources, seed)
		return load.Here(connect), over, err
	}
	loaders, err := r.parts.LoadersOf(c.Load)
	if err != nil {
		return nil, nil, err
	}
	target, err := s.loadTarget(c.Load, sets[0])
	if err != nil {
		return nil, nil, err
	}
	job, err := loader.NewJob(target, c.Workload, c.Source, c.Load.Parameters, seed)
	if err != nil {
		return nil, nil, err
	}
	return loader.Team{Loaders: loaders, Job: job, Version: r.options.Version}.Run, inOnePlace{}, nil
}

// placing is where the workers of a load are. It is closed when its clients are.
type placing interface {
	move(nodes []string)                // when nodes came or went
	shares(at time.Time) []series.Point // of what nodes answered since it was last asked, where that is counted
	close()
}

// connector is what makes the clients of a cell's load: from sources, over all nodes, or with its reads on replicas.
func (r *runner) connector(ctx context.Context, c *spec.Cell, s *servers, sources []engine.Database, seed uint64) (load.Connect, placing, error) {
	switch {
	case c.Load.Reads == spec.ReadReplicas:
		return r.readers(ctx, c, s, sources[0], seed)
	case c.Load.Cache != nil:
		behind, over, err := r.cached(ctx, c, s, sources)
		if err != nil {
			return nil, nil, err
		}
		return connect(c, behind, seed), over, nil
	case c.Load.To != spec.ToAll:
		return connect(c, sources, seed), inOnePlace{}, nil
	}
	open := func(ctx context.Context, node string) (engine.Database, error) {
		return s.openLoad(ctx, c.Load, spec.Dataset{Nodes: []string{node}, Namespace: spec.Namespace})
	}
	over := &loadSpread{open: open, workload: c.Workload, seed: seed, nodes: s.serving(), bases: map[string]engine.Database{}}
	return over.connect, over, nil
}

// inOnePlace is a load that does not move with the nodes.
type inOnePlace struct{}

func (inOnePlace) move([]string)                   {}
func (inOnePlace) shares(time.Time) []series.Point { return nil }
func (inOnePlace) close()                          {}

// connect makes clients that are dealt out to the data sets in turn: as many for each, whatever becomes of the others.
func connect(c *spec.Cell, all []engine.Database, seed uint64) load.Connect {
	each := make([]load.Connect, len(all))
	for i, db := range all {
		each[i] = c.Workload.Connect(db, seed+uint64(i)<<32)
	}
	return func(ctx context.Context, worker int) (load.Client, error) {
		return each[worker%len(each)](ctx, worker/len(each))
	}
}
