package run

import (
	"context"
	"slices"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/loader"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

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

// broke makes the trial INVALID for what went wrong with the load itself.
func (d *cellRun) broke(all load.Summary) {
	for _, reason := range slices.Compact(all.Broken) {
		d.invalidate("%s: %s", where(d.cell.Name, d.round), reason)
		d.happened(series.Event{Kind: series.LoadBroken, Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"reason": reason}})
	}
}
