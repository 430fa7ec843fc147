package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/probe"
	"plimsoll/series"
	"plimsoll/trial/expect"
	"plimsoll/watch/live"
)

// wholeCluster is the node under which a watched signal stands that is of no node, as max(up) is.
const wholeCluster = "cluster"

// watchSeries reads the watched series that expectations name, until ctx ends.
func (w *watch) watchSeries(ctx context.Context, expressions []string) error {
	on, err := w.runner.clusterOf(ctx, w.runner.nameOf(w.servers))
	if err != nil {
		return err
	}
	reader, err := w.runner.parts.Watch(ctx, on, w.runner.trial.Queries)
	if err != nil {
		return errors.Join(err, on.Close())
	}
	w.closers = append(w.closers, reader, on)
	w.collect(ctx, wholeCluster, watchedProbe{reader, expressions})
	return nil
}

// watchedProbe reads expressions over watched series.
type watchedProbe struct {
	from        *live.Reader
	expressions []string
}

var _ probe.Probe = watchedProbe{}

// Read implements probe.Probe. What nothing shows now has no point.
func (p watchedProbe) Read(ctx context.Context, now time.Time) (points []series.Point, err error) {
	for _, expression := range p.expressions {
		all, err := p.from.Read(ctx, expression)
		if err != nil {
			return nil, fmt.Errorf("read watched series: %w", err)
		}
		largest := map[string]float64{} // of several channels of a node the worst counts
		for _, v := range all {
			node := cmp.Or(v.Node, wholeCluster)
			if before, seen := largest[node]; !seen || v.Value > before {
				largest[node] = v.Value
			}
		}
		for node, v := range largest {
			points = append(points, series.Point{Time: now, Signal: expect.WatchPrefix + expression, Node: node, Value: v})
		}
	}
	return points, nil
}
