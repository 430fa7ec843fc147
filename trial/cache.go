package trial

import (
	"context"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/series"
	"plimsoll/workload/lookaside"
)

// ReadCache is a read cache in front of the database: a real Valkey beside the lab's servers, which the load asks first.
type ReadCache struct {
	Memory Size          `yaml:"memory,required" doc:"For what it keeps, such as 64M. What was used longest ago leaves first."`
	For    time.Duration `yaml:"for,nonzero" doc:"How long an answer is kept, and so how old it can be: the cache is not told of writes. Default 10m."`
}

// usualKeep is how long an answer is kept unless the trial says it.
const usualKeep = 10 * time.Minute

// hitShare is the signal of what part of the reads the cache answered in a second; cacheFailed of how many it could not be asked.
const (
	hitShare    = "load.cache_hit_share"
	cacheFailed = "load.cache_failures"
)

// checkCache refuses a cache together with what spreads a load.
func (l Load) checkCache(n *document.Node, ps *document.Problems) {
	if l.Cache == nil {
		return
	}
	if l.Reads == ReadReplicas || l.To == ToAll || len(l.From) > 0 {
		ps.Add(n, at(n, "cache").Errorf("cache takes a load on one server from Plimsoll's own process, without reads_from: replicas, to: all or from"))
	}
	if l.Cache.Memory < 1<<20 {
		ps.Add(n, at(n, "cache").Errorf("a cache of %d bytes, expected a MiB or more", int64(l.Cache.Memory)))
	}
}

// suitCache refuses a cache where Plimsoll does not run the servers, or nothing in SQL only reads.
func (l Load) suitCache(n *document.Node, t *Trial, e engine.Engine) error {
	if l.Cache == nil {
		return nil
	}
	if t.existing != nil {
		return at(n, "cache").Errorf("cache, and %s is there already: a cache is started beside a lab's servers", t.existing.name)
	}
	if _, ok := e.(engine.Relational); !ok {
		return at(n, "cache").Errorf("cache, and %s does not speak SQL", e.Name())
	}
	return nil
}

// cached is a load behind a cache.
type cached struct {
	inOnePlace

	cache                  *lookaside.Cache
	hits, misses, failures int64 // that were told
	stop                   func()
}

// cached starts the cell's cache, empty, and puts it in front of the data sets.
func (r *runner) cached(ctx context.Context, c *cell, s *servers, sources []engine.Database) ([]engine.Database, placing, error) {
	server, err := s.cluster.StartCache(ctx, int64(c.load.Cache.Memory))
	if err != nil {
		return nil, nil, err
	}
	keep := c.load.Cache.For
	if keep == 0 {
		keep = usualKeep
	}
	r.happened(series.Event{Kind: series.CacheStarted, Cell: c.Name, Detail: map[string]any{"version": server.Exact, "bytes": int64(c.load.Cache.Memory)}})
	cache := lookaside.New(lookaside.Place{Address: server.Address, Password: server.Password}, keep)
	behind := make([]engine.Database, len(sources))
	for i, db := range sources {
		behind[i] = cache.Before(db)
	}
	return behind, &cached{cache: cache, stop: func() { _ = server.Stop(context.WithoutCancel(ctx)) }}, nil // it ends with the cluster else
}

func (c *cached) shares(at time.Time) []series.Point {
	hits, misses, failures := c.cache.Counts()
	asked, answered, failed := hits+misses-c.hits-c.misses, hits-c.hits, failures-c.failures
	c.hits, c.misses, c.failures = hits, misses, failures
	points := []series.Point{{Time: at, Signal: cacheFailed, Node: "cache", Value: float64(failed)}}
	if asked > 0 {
		points = append(points, series.Point{Time: at, Signal: hitShare, Node: "cache", Value: float64(answered) / float64(asked)})
	}
	return points
}

func (c *cached) close() { c.stop() }
