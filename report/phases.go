package report

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/report/quantity"
	"plimsoll/trial"
)

// lead says in one sentence what each disturbance of a run did.
func (u *run) lead() []remark {
	var all []remark
	for _, p := range u.Phases {
		i := p.Impact
		if i == nil {
			continue
		}
		if i.Onset.IsZero() {
			all = append(all, remark{p.Name, ": no change was found."})
			continue
		}
		s := fmt.Sprintf(": throughput fell to %s of the baseline in its worst second", quantity.Share.Format(i.WorstSecond))
		if i.ErrorSeconds > 0 {
			s += fmt.Sprintf(", %s with errors", seconds(i.ErrorSeconds))
		}
		if i.LostOps >= 0.5 {
			s += fmt.Sprintf(", %s operations fewer than the baseline would have done", quantity.Count.Format(i.LostOps))
		}
		if i.Recovered.IsZero() {
			s += "; it did not come back within the trial."
		} else {
			s += "; back after " + quantity.Duration(i.Took) + "."
		}
		all = append(all, remark{p.Name, s})
	}
	return all
}

func seconds(n int) string {
	if n == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", n)
}

// phaseTable is a run's phases with what was measured in them and what the disturbances did.
func (u *run) phaseTable() table {
	t := table{Columns: []string{"from", "lasted", "throughput", "p99 response", "of baseline", "worst second", "error seconds", "lost operations", "back after"}}
	impacts := slices.ContainsFunc(u.Phases, func(p trial.Phase) bool { return p.Impact != nil })
	if !impacts {
		t.Columns = t.Columns[:4]
	}
	for _, p := range u.Phases {
		l := line{Head: p.Name, Ink: -1}
		l.Cells = plainEntries(quantity.Elapsed.Format(p.From.Sub(u.Start).Seconds()), quantity.Duration(p.To.Sub(p.From)))
		for _, metric := range []string{"throughput", "response_p99"} {
			var e entry
			if f, ok := find(p.Figures, metric, ""); ok {
				e.Value, e.Spread = write(f)
			}
			l.Cells = append(l.Cells, e)
		}
		if impacts {
			l.Cells = append(l.Cells, impactEntries(p)...)
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

func impactEntries(p trial.Phase) []entry {
	i := p.Impact
	if i == nil {
		return make([]entry, 5)
	}
	var depth entry
	depth.Value, depth.Spread = writeEstimate(quantity.Share, i.Depth)
	back := quantity.Duration(i.Took)
	switch {
	case i.Onset.IsZero():
		back = "no change found"
	case i.Recovered.IsZero():
		back = "not within the trial"
	}
	return append([]entry{depth}, plainEntries(quantity.Share.Format(i.WorstSecond), fmt.Sprint(i.ErrorSeconds), quantity.Count.Format(i.LostOps), back)...)
}

// roundName is a cell and its round in words.
func roundName(cell string, round int) string {
	if round == 0 {
		return cmp.Or(cell, "trial")
	}
	if cell == "" {
		return fmt.Sprintf("round %d", round)
	}
	return fmt.Sprintf("%s, round %d", cell, round)
}
