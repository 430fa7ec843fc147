package trial

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/loader"
	"plimsoll/series"
)

// checkFrom refuses loader machines that are not known.
func (p Parts) checkFrom(l Load, n *document.Node) error {
	if len(l.From) == 0 {
		return nil
	}
	var ps document.Problems
	from := n.Get("from")
	for i, name := range l.From {
		one, err := p.Loader(name)
		switch {
		case err != nil:
			ps.Add(from.Items[i], from.Items[i].Errorf("%v", err))
		case one == nil:
			ps.Add(from.Items[i], document.UnknownName(from.Items[i], "machine to load from", p.Loaders()))
		}
	}
	return ps.Err()
}

// LoadersOf makes the loaders of a load, in the order of from.
func (p Parts) LoadersOf(l Load) ([]loader.Loader, error) {
	var all []loader.Loader
	for _, name := range l.From {
		one, err := p.Loader(name)
		if err != nil {
			return nil, err
		}
		if one == nil {
			return nil, fmt.Errorf("there is no machine %s to load from any more", name)
		}
		all = append(all, *one)
	}
	return all, nil
}

// issue is what issues a cell's load: on open data sets or over all nodes by this process, or by the loaders that the load
// names.
func (r *runner) issue(ctx context.Context, c *cell, s *servers, sets []dataset, sources []engine.Database, seed uint64) (load.Runner, placing, error) {
	if len(c.load.From) == 0 {
		connect, over, err := r.connector(ctx, c, s, sources, seed)
		return load.Here(connect), over, err
	}
	loaders, err := r.parts.LoadersOf(c.load)
	if err != nil {
		return nil, nil, err
	}
	target, err := s.loadTarget(c.load, sets[0])
	if err != nil {
		return nil, nil, err
	}
	job, err := loader.NewJob(target, c.workload, c.source, c.load.Parameters, seed)
	if err != nil {
		return nil, nil, err
	}
	return loader.Team{Loaders: loaders, Job: job, Version: r.site.Version}.Run, inOnePlace{}, nil
}

// broke makes the trial INVALID for what went wrong with the load itself.
func (d *cellRun) broke(all load.Summary) {
	for _, reason := range slices.Compact(all.Broken) {
		d.invalidate("%s: %s", where(d.cell.Name, d.round), reason)
		d.happened(series.Event{Kind: "load.broken", Cell: d.cell.Name, Round: d.round, Detail: map[string]any{"reason": reason}})
	}
}
