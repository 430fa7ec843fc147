package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/engine"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

// WatchSource is what reads an instance at a target. A collector of another kind, such as of a cloud's metrics, is added to its
// Collectors, after the first. The queries are a person's own, of which it takes those that are for it.
func WatchSource(i watch.Instance, t engine.Target, queries []collect.Query) (watch.Source, error) {
	e, err := EngineOf(t)
	if err != nil {
		return watch.Source{}, err
	}
	i.Engine = e.Name()
	if d, ok := e.(engine.Dialer); ok {
		dial := func(ctx context.Context) (engine.Session, error) { return d.Dial(ctx, t) }
		mine := slices.DeleteFunc(slices.Clone(queries), func(q collect.Query) bool { return !q.On(i) })
		return watch.Source{Instance: i, Collectors: collect.MySQL(dial, i.Cores, mine...)}, nil
	}
	if i.Engine == "cql" {
		dial := func(ctx context.Context) (engine.Session, error) { return openAlone(ctx, e, t) }
		return watch.Source{Instance: i, Collectors: collect.Cassandra(dial, t.Addresses[0], i.Cores)}, nil
	}
	return watch.Source{}, fmt.Errorf("%s: an instance of the engine %s cannot be watched yet", i.Name, e.Name())
}

// WatchDisk reads how much room there is where an instance keeps its data, on its machine; nil for an engine that does not tell where.
func WatchDisk(t engine.Target, on collect.Runner) watch.Collector {
	e, err := EngineOf(t)
	if err != nil {
		return nil
	}
	if d, ok := e.(engine.Dialer); ok {
		return collect.Disk(func(ctx context.Context) (engine.Session, error) { return d.Dial(ctx, t) }, on)
	}
	if e.Name() == "cql" {
		return collect.CassandraDisk(func(ctx context.Context) (engine.Session, error) { return openAlone(ctx, e, t) }, on)
	}
	return nil
}

// alone is a session with the database that was opened for it.
type alone struct {
	engine.Session
	database engine.Database
}

func (a alone) Close() error { return errors.Join(a.Session.Close(), a.database.Close()) }

// openAlone opens a session to one node and none other.
func openAlone(ctx context.Context, e engine.Engine, t engine.Target) (engine.Session, error) {
	db, err := e.Open(ctx, engine.Alone(e, t))
	if err != nil {
		return nil, err
	}
	s, err := db.Session(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return alone{s, db}, nil
}
