package trial

import (
	"context"
	"fmt"

	"plimsoll/load"
	"plimsoll/series"
)

// seek finds the largest rate of a cell's data set, once, with the settings of the first cell that asks.
func (r *runner) seek(ctx context.Context, c *cell, s *servers) error {
	if r.maxima[c.data] > 0 {
		return nil
	}
	nodes, err := r.stage(ctx, c, 0, s)
	if err != nil {
		return err
	}
	db, err := s.open(ctx, nodes...)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := c.workload.Adopt(ctx, db); err != nil {
		return fmt.Errorf("look at the data of %s: %w", c.load.Workload, err)
	}
	r.observe(Stage{Doing: Seeking, Cell: c.Name, Share: -1})
	spec := load.Spec{Operations: c.workload.Operations(), Connections: c.load.Connections, Timeout: c.load.Timeout}
	found, err := load.FindMax(ctx, spec, c.workload.Connect(db, r.trial.Seed), func(l load.Level) {
		r.observe(Stage{Doing: Seeking, Cell: c.Name, Detail: fmt.Sprintf("%d connections: %.0f/s", l.Connections, l.Throughput), Share: -1})
	})
	if err != nil {
		return err
	}
	if found.Rising {
		r.note("The maximum still rose at %d connections: the rate is a share of what these reach.", c.load.Connections)
	}
	r.maxima[c.data] = found.Throughput
	r.happened(series.Event{Kind: "load.maximum", Name: c.load.Workload, Detail: map[string]any{"per_second": found.Throughput, "connections": found.Connections}})
	return nil
}
