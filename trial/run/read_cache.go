package run

import (
	"context"
	"time"

	"plimsoll/engine"
	"plimsoll/series"
	"plimsoll/trial/spec"
	"plimsoll/workload/lookaside"
)

// cached is a load behind a cache.
type cached struct {
	inOnePlace

	cache                  *lookaside.Cache
	hits, misses, failures int64 // that were told
	stop                   func()
}

// cached starts the cell's cache, empty, and puts it in front of the data sets.
func (r *runner) cached(ctx context.Context, c *spec.Cell, s *servers, sources []engine.Database) ([]engine.Database, placing, error) {
	server, err := s.cluster.StartCache(ctx, int64(c.Load.Cache.Memory))
	if err != nil {
		return nil, nil, err
	}
	keep := c.Load.Cache.For
	if keep == 0 {
		keep = spec.UsualKeep
	}
	r.happened(series.Event{Kind: series.CacheStarted, Cell: c.Name, Detail: map[string]any{"version": server.Exact, "bytes": int64(c.Load.Cache.Memory)}})
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
	points := []series.Point{{Time: at, Signal: spec.CacheFailed, Node: "cache", Value: float64(failed)}}
	if asked > 0 {
		points = append(points, series.Point{Time: at, Signal: spec.HitShare, Node: "cache", Value: float64(answered) / float64(asked)})
	}
	return points
}

func (c *cached) close() { c.stop() }
