package advisecmd

import (
	"context"
	"fmt"
	"time"

	"plimsoll/advise/caches"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/report/advice"
)

// countsCaches is the database of a cluster whose caches show no more than counters; nil: it shows the pages that it keeps in memory.
func countsCaches(ctx context.Context, on *cluster.Cluster, node string) (engine.CacheCounting, error) {
	n, err := askedNode(ctx, on, node)
	if err != nil {
		return nil, err
	}
	db, err := on.Database(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	counting, _ := engine.As[engine.CacheCounting](db)
	return counting, nil
}

// longestCacheLook is enough for counters, where pages are followed for minutes.
const longestCacheLook = 30 * time.Second

func adviseCaches(ctx context.Context, c console.Streams, deps lab.Deps, name string, db engine.CacheCounting, o memoryOptions) error {
	span := min(o.Span, longestCacheLook)
	fmt.Fprintf(c.Err, "reading the counters of the caches for %s\n", span)
	r, err := caches.Observe(ctx, db, span)
	if err != nil {
		return err
	}
	r.Cluster = name
	if err := keepAdvice(deps, advice.OfCaches(r)); err != nil {
		return err
	}
	switch {
	case o.json:
		return console.PrintJSON(c, r)
	case o.markdown:
		_, err = fmt.Fprint(c.Prose(), advice.CachesMarkdown(r))
	default:
		width, _ := console.Terminal(c.Out)
		_, err = fmt.Fprint(c.Prose(), advice.Caches(r, max(width, 80)))
	}
	return err
}
