package main

import (
	"context"
	"fmt"
	"time"

	"plimsoll/advise/caches"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/report/advice"
)

// countsCaches is the database of a cluster whose caches show no more than counters; nil: it shows the pages that it keeps in memory.
func countsCaches(ctx context.Context, site *cluster.Cluster, node string) (engine.CacheCounting, error) {
	n, err := site.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	db, err := site.Database(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	counting, _ := engine.As[engine.CacheCounting](db)
	return counting, nil
}

// longestCacheLook is enough for counters, where pages are followed for minutes.
const longestCacheLook = 30 * time.Second

func adviseCaches(ctx context.Context, c console, name string, db engine.CacheCounting, o adviseMemoryOptions) error {
	span := min(o.span, longestCacheLook)
	fmt.Fprintf(c.err, "reading the counters of the caches for %s\n", span)
	r, err := caches.Observe(ctx, db, span)
	if err != nil {
		return err
	}
	r.Cluster = name
	switch {
	case o.json:
		return jsonTo(c, r)
	case o.markdown:
		_, err = fmt.Fprint(c.out, advice.CachesMarkdown(r))
	default:
		width, _ := terminal(c.out)
		_, err = fmt.Fprint(c.out, advice.Caches(r, max(width, 80)))
	}
	return err
}
