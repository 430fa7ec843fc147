package report

import (
	"slices"
	"time"

	"plimsoll/result"

	"plimsoll/report/chart"
	"plimsoll/series"
)

// run is a period of unbroken load: one round of one cell.
type run struct {
	Cell   string
	Round  int
	Start  time.Time
	End    time.Time
	rows   []result.Row // of all operations together, in time
	Phases []result.Phase
	Events []series.Event // but for the beginnings of phases
}

// runs cuts a result into its runs, in time.
func runs(r *result.Result) []*run {
	type key struct {
		cell  string
		round int
	}
	byKey := map[key]*run{}
	var all []*run
	for _, row := range r.Seconds {
		if row.Operation != everything {
			continue
		}
		k := key{row.Cell, row.Round}
		u := byKey[k]
		if u == nil {
			u = &run{Cell: row.Cell, Round: row.Round, Start: row.Time}
			byKey[k], all = u, append(all, u)
		}
		u.rows = append(u.rows, row)
	}
	for _, u := range all {
		slices.SortStableFunc(u.rows, func(a, b result.Row) int { return a.Time.Compare(b.Time) })
		last := u.rows[len(u.rows)-1]
		u.Start, u.End = u.rows[0].Time, last.Time.Add(max(last.Length, time.Second))
	}
	slices.SortStableFunc(all, func(a, b *run) int { return a.Start.Compare(b.Start) })
	for _, p := range r.Verdict.Phases {
		if u := byKey[key{p.Cell, p.Round}]; u != nil {
			u.Phases = append(u.Phases, p)
			if p.From.Before(u.Start) {
				u.Start = p.From
			}
		}
	}
	for _, e := range r.Events {
		if e.Kind.Group() == series.OfPhases {
			continue
		}
		for _, u := range all {
			if !e.Time.Before(u.Start) && e.Time.Before(u.End) {
				u.Events = append(u.Events, e)
			}
		}
	}
	for _, u := range all {
		slices.SortStableFunc(u.Events, func(a, b series.Event) int { return a.Time.Compare(b.Time) })
		u.Events = condense(u.Events)
		if len(u.Phases) == 0 {
			u.Phases = u.labelled()
		}
	}
	return all
}

// labelled are the phases as the rows name them: all there is of a trial that was cut off.
func (u *run) labelled() []result.Phase {
	var all []result.Phase
	for _, row := range u.rows {
		end := row.Time.Add(max(row.Length, time.Second))
		if n := len(all); n > 0 && all[n-1].Name == row.Phase {
			all[n-1].To = end
			continue
		}
		all = append(all, result.Phase{Name: row.Phase, Cell: u.Cell, Round: u.Round, From: row.Time, To: end})
	}
	return all
}

// disturbed tells trials in which something is done while the load runs from those that only compare.
func disturbed(r *result.Result) bool {
	return slices.ContainsFunc(r.Verdict.Phases, func(p result.Phase) bool { return tint(p) == chart.Disturbed })
}

// tint is what a phase means. Besides the named periods there are only the actions of a timeline.
func tint(p result.Phase) chart.Tint {
	switch {
	case p.Of != "":
		return chart.Step
	case p.Impact != nil:
		return chart.Disturbed
	case p.Name == "warmup":
		return chart.Aside
	case p.Name == "recovery":
		return chart.Recovery
	case p.Name == "baseline", p.Name == "measure", p.Name == "wait":
		return chart.Calm
	default:
		return chart.Disturbed
	}
}

// Name tells a run from the others of its trial.
func (u *run) Name() string { return roundName(u.Cell, u.Round) }
