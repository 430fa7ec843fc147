package run

import (
	"context"
	"fmt"

	"plimsoll/trial/progress"
	"plimsoll/trial/spec"

	"plimsoll/load"
	"plimsoll/series"
)

// seek finds the largest rate of a cell's data set, once, with the settings of the first cell that asks.
func (r *runner) seek(ctx context.Context, c *spec.Cell, s *servers) error {
	if r.maxima[c.Data] > 0 {
		return nil
	}
	nodes, err := r.stage(ctx, c, 0, s)
	if err != nil {
		return err
	}
	sets := c.Datasets(nodes)
	all, err := s.openAll(ctx, sets)
	if err != nil {
		return err
	}
	defer func() { _ = closeAll(all) }() // the administrator only looked
	if err := adopt(ctx, c, all, r.trial.Existing); err != nil {
		return lackingOr(ctx, r, s, err)
	}
	loading, err := s.openLoads(ctx, c, sets)
	if err != nil {
		return err
	}
	defer func() { _ = closeAll(loading) }() // every operation has ended
	r.observe(progress.Stage{Doing: progress.Seeking, Cell: c.Name, Share: -1})
	spec := load.Spec{Operations: c.Workload.Operations(), Connections: c.Load.Connections, Timeout: c.Load.Timeout}
	issue, over, err := r.issue(ctx, c, s, sets, loading, r.trial.Seed)
	if err != nil {
		return err
	}
	defer over.close()
	found, err := load.FindMax(ctx, spec, issue, func(l load.Level) {
		r.observe(progress.Stage{Doing: progress.Seeking, Cell: c.Name, Detail: fmt.Sprintf("%d connections: %.0f/s", l.Connections, l.Throughput), Share: -1})
	})
	if err != nil {
		return err
	}
	if found.Rising {
		r.note("The throughput was still rising at %d connections: the rate is a share of what these connections reached.", c.Load.Connections)
	}
	r.maxima[c.Data] = found.Throughput
	r.happened(series.Event{Kind: series.LoadMaximum, Name: c.Load.Workload, Detail: map[string]any{"per_second": found.Throughput, "connections": found.Connections}})
	return nil
}
