package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/report/chart"
	"plimsoll/report/quantity"
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

// changeLead says under the verdict of a trial that makes a change in several cells what the change was like in each: that is what the cells
// are compared for, and expectations need not ask it. "" of a trial that compares nothing, or changes nothing.
func changeLead(v result.Verdict) []remark {
	if len(v.Cells) < 2 {
		return nil
	}
	var all []remark
	for _, c := range v.Cells {
		for _, name := range changesOf(v, c.Name) {
			all = append(all, remark{c.Name, ": " + changeOf(v, c.Name, name) + "."})
		}
	}
	return all
}

// changesOf are the changes of a cell, in order.
func changesOf(v result.Verdict, cell string) []string {
	var names []string
	for _, p := range v.Phases {
		if p.Cell == cell && p.Impact != nil && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// changeOf is how the service fared in a change, in the worst of its rounds.
func changeOf(v result.Verdict, cell, name string) string {
	var during, gap float64
	var longest, lasted time.Duration
	rounds, idle := map[int]bool{}, map[int]bool{} // all, and those in which no operation ended during the change
	worst, worse, open, audited := 0, false, false, false
	for _, p := range v.Phases {
		if p.Cell != cell || p.Name != name || p.Impact == nil {
			continue
		}
		rounds[p.Round] = true
		switch p99, known := find(p.Figures, "response_p99", ""); {
		case !known || !(p99.Estimate.Value > 0): // NaN too
			idle[p.Round] = true
		case p99.Estimate.Value > during:
			during, worst = p99.Estimate.Value, p.Round
		}
		longest, worse = max(longest, p.Impact.Longest()), worse || len(p.Impact.Spells) > 0
		if !p.Impact.Over() {
			open, lasted = true, max(lasted, p.Impact.Spells[len(p.Impact.Spells)-1].Took)
		}
		if f, any := find(p.Figures, "recovery_time", ""); any {
			gap, audited = max(gap, f.Estimate.Value), true
		}
	}
	parts := []string{"no operation ended during " + name}
	if during > 0 {
		parts[0] = "p99 response " + quantity.Milliseconds.Format(during) + " during " + name
		if before := baselineP99(v, cell, worst); before > 0 && worse {
			parts[0] += ", " + quantity.Milliseconds.Format(before) + " in the baseline"
		}
		if len(idle) > 0 && len(rounds) > 1 {
			parts = append(parts, fmt.Sprintf("no operation ended during it in %d of %d rounds", len(idle), len(rounds)))
		}
	}
	took := func(d time.Duration) string { return quantity.Duration(d.Round(10 * time.Millisecond)) }
	switch {
	case open:
		parts = append(parts, "throughput, response times or errors were not as before within "+took(lasted))
	case worse:
		parts = append(parts, "throughput, response times and errors were all as before after "+took(longest))
	default:
		parts = append(parts, "throughput, response times and errors stayed as before")
	}
	if audited {
		parts = append(parts, "the longest time from one acknowledged write to the next was "+quantity.Milliseconds.Format(gap))
	}
	text := strings.Join(parts, "; ")
	if len(rounds) > 1 {
		text += fmt.Sprintf(", in the worst of %d rounds", len(rounds))
	}
	return text
}

// baselineP99 is what p99 was in a round's baseline; 0: not known.
func baselineP99(v result.Verdict, cell string, round int) (before float64) {
	for _, p := range v.Phases {
		if p.Cell == cell && p.Round == round && p.Name == "baseline" {
			if f, known := find(p.Figures, "response_p99", ""); known && f.Estimate.Value > before {
				before = f.Estimate.Value
			}
		}
	}
	return before
}
