package trial

import (
	"context"
	"slices"
	"strings"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/series"
)

// tellForeseen says what was foreseen, and refuses to go on with what must be otherwise.
func (r *runner) tellForeseen(all []Foreseen) error {
	var why, do []string
	for _, f := range all {
		if f.Must {
			why = append(why, f.String())
			if f.Do != "" && !slices.Contains(do, f.Do) {
				do = append(do, f.Do)
			}
			continue
		}
		detail := map[string]any{"why": f.Why}
		if f.Do != "" {
			detail["do"] = f.Do
		}
		r.happened(series.Event{Kind: series.TrialForeseen, Name: f.Of, Detail: detail})
		r.note("It was known before the load: %s.", f)
	}
	if len(why) == 0 {
		return nil
	}
	return &abort{answer: analyze.CouldNotRun, reason: strings.Join(why, "; "), advice: strings.Join(do, "; ")}
}

// foreseeCell looks, before the load of a cell, at what its server shows and what its account may do, and plans its runbooks: once for
// each data set.
func (r *runner) foreseeCell(ctx context.Context, c *cell, s *servers, db engine.Database) error {
	if r.foresaw[c.data] {
		return nil
	}
	if r.foresaw == nil {
		r.foresaw = map[string]bool{}
	}
	r.foresaw[c.data] = true
	all, err := SignalsAt(ctx, r.trial, s.engine, db)
	if err == nil {
		var grants []Foreseen
		grants, err = GrantsForLoad(ctx, r.trial, db)
		all = append(all, grants...)
	}
	if err != nil {
		r.site.Log.Info("not everything can be told before the load", "error", err)
	}
	if e := r.trial.existing; e != nil && e.listed && r.runs == nil && r.parts.Marker != nil {
		all = append(all, r.lockOfTarget(ctx, e)...)
	}
	if r.runs != nil {
		all = append(all, RunbooksAt(ctx, r.trial, r.runs.service.Prepare, r.nameOf(s))...)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return r.tellForeseen(all)
}

func (r *runner) lockOfTarget(ctx context.Context, e *existing) []Foreseen {
	site, err := r.parts.Site(ctx, e.name, r.site.Lab.Machine)
	if err != nil {
		return nil // whom the load cannot reach either says so
	}
	defer func() { _ = site.Close() }() // it only looked
	marker := r.parts.Marker(site)
	if marker == nil {
		return nil
	}
	return LockAt(ctx, marker, e.name)
}
