package report

import (
	"cmp"
	"time"

	"plimsoll/report/chart"
	"plimsoll/result"
)

// variants tell which variant was measured when; where nothing is compared by variants, which cell.
type variants struct {
	runs  []*run
	names map[string]string // by cell
	inks  map[string]int    // by name: as in the comparison's curves
}

func newVariants(r *result.Result, all []*run) variants {
	v := variants{runs: all, names: map[string]string{}, inks: map[string]int{}}
	for _, c := range r.Verdict.Cells {
		name := cmp.Or(c.Variant, c.Name)
		if v.names[c.Name] = name; name == "" {
			continue
		}
		if _, known := v.inks[name]; !known {
			v.inks[name] = len(v.inks)
		}
	}
	return v
}

// at is the variant that was measured at a moment, with its ink.
func (v variants) at(t time.Time) (name string, ink int, is bool) {
	for _, u := range v.runs {
		if !t.Before(u.Start) && !t.After(u.End) && v.names[u.Cell] != "" {
			return v.names[u.Cell], v.inks[v.names[u.Cell]], true
		}
	}
	return "", 0, false
}

// bands shade the time of each variant but the first, the control.
func (v variants) bands(start time.Time) []chart.Span {
	tints := []chart.Tint{chart.Calm, chart.Recovery, chart.Aside, chart.Step}
	var out []chart.Span
	for _, u := range v.runs {
		name := v.names[u.Cell]
		s := chart.Span{From: u.Start.Sub(start).Seconds(), To: u.End.Sub(start).Seconds(), Name: name, Tint: tints[v.inks[name]%len(tints)]}
		if name != "" && s.From >= 0 && s.To > s.From {
			out = append(out, s)
		}
	}
	return out
}
