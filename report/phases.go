package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/report/quantity"
	"plimsoll/series"
)

// lead says what each disturbance of a run did.
func (u *run) lead() []remark {
	var all []remark
	for _, p := range u.Phases {
		i := p.Impact
		if i == nil {
			continue
		}
		if i.Onset.IsZero() {
			all = append(all, remark{p.Name, ": " + u.withoutEffect(p)})
			continue
		}
		d := disturbanceOf(p)
		d.failed = u.errorsSince(p)
		all = append(all, remark{p.Name, ": " + d.sentence()})
		all = append(all, u.dipRemarks(p)...)
	}
	return all
}

// errorsSince are the errors from the beginning of a change up to the next, by class.
func (u *run) errorsSince(p result.Phase) string {
	until := u.End
	for _, next := range u.Phases {
		if (next.Impact != nil || u.changedIn(next)) && next.From.After(p.From) && next.From.Before(until) {
			until = next.From
		}
	}
	classes := map[string]any{}
	for _, e := range u.Events {
		if e.Kind == series.LoadErrors && !e.Time.Before(p.From) && e.Time.Before(until) {
			classes = sum(classes, e.Detail)
		}
	}
	delete(classes, "seconds")
	return details(classes)
}

// changedIn tells a phase in which something was changed, also one that was too short to say what that did.
func (u *run) changedIn(p result.Phase) bool {
	return slices.ContainsFunc(u.Events, func(e series.Event) bool {
		return (e.Kind == series.ChangeStart || e.Kind == series.ChangeEnd) && e.Name == p.Name && !e.Time.Before(p.From) && !e.Time.After(p.To)
	})
}

// withoutEffect says of a disturbance that was not felt what there was to be seen of it.
func (u *run) withoutEffect(p result.Phase) string {
	depth, spread := writeEstimate(quantity.Share, p.Impact.Depth)
	if spread != "" {
		spread = " (" + spread + ")"
	}
	text := fmt.Sprintf("no dip was found; from its beginning on, throughput was %s%s of the baseline, %s in its worst second",
		depth, spread, quantity.Share.Format(p.Impact.WorstSecond))
	if p.Impact.Usual {
		text += ", as the baseline's own seconds vary"
	}
	at := slices.IndexFunc(u.Phases, func(b result.Phase) bool { return b.Name == "baseline" })
	if at < 0 {
		return text + "."
	}
	before, known := find(u.Phases[at].Figures, "response_p99", "")
	during, also := find(p.Figures, "response_p99", "")
	if !known || !also {
		return text + "."
	}
	was, _ := write(before)
	is, _ := write(during)
	return text + fmt.Sprintf(", and p99 response %s, against %s before.", is, was)
}

func seconds(n int) string {
	if n == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", n)
}

// briefest is the shortest phase whose figures have an interval that means something.
const briefest = 3 * time.Second

// phaseTable is a run's phases with what was measured in them and what the disturbances did.
func (u *run) phaseTable() table {
	t := table{Columns: []string{"from", "lasted", "throughput", "throughput of baseline", "p99 response", "worst second", "error seconds", "lost operations", "throughput back after", "p99 back after"}}
	impacts := slices.ContainsFunc(u.Phases, func(p result.Phase) bool { return p.Impact != nil })
	if !impacts {
		t.Columns = slices.Concat(t.Columns[:3], t.Columns[4:5])
	}
	for _, p := range u.Phases {
		l := line{Head: shortName(p), Ink: -1}
		if p.Of != "" {
			l.Head = "↳ " + l.Head
		}
		l.Cells = plainEntries(quantity.Elapsed.Format(p.From.Sub(u.Start).Seconds()), quantity.Duration(p.To.Sub(p.From)))
		for _, metric := range []string{"throughput", "response_p99"} {
			var e entry
			if f, ok := find(p.Figures, metric, ""); ok {
				e.Value, e.Spread = write(f)
				if p.To.Sub(p.From) < briefest {
					e.Spread = "" // of so few seconds it would say how alike they happened to be
				}
			}
			l.Cells = append(l.Cells, e)
			if impacts && metric == "throughput" {
				l.Cells = append(l.Cells, u.ofBaseline(p))
			}
		}
		if impacts {
			l.Cells = append(l.Cells, impactEntries(p)...)
		}
		t.Rows = append(t.Rows, l)
	}
	t.Note = u.aboutLengths()
	return t
}

// aboutLengths says how long the changes themselves took, and why their phases are longer; "" where that is not known.
func (u *run) aboutLengths() string {
	var took []string
	for _, p := range u.Phases {
		if p.Impact == nil {
			continue
		}
		for _, e := range u.Events {
			if e.Kind != series.ChangeEnd || e.Name != p.Name || e.Time.Before(p.From) || e.Time.After(p.To) {
				continue
			}
			if s := number64(e.Detail["seconds"]); s > 0 {
				took = append(took, p.Name+" "+quantity.Duration(time.Duration(s*float64(time.Second)).Round(time.Millisecond)))
			}
		}
	}
	if len(took) == 0 {
		return ""
	}
	return "Phases are whole seconds. The phase of a change includes the second after the one in which the change ended, so it lasts at least two seconds. " +
		"The change itself, from its first check to its last step, took: " + strings.Join(took, ", ") + ". A step (↳) has its own length."
}

// ofBaseline is the throughput of a row as a share of the baseline's, of one in which something was changed.
func (u *run) ofBaseline(p result.Phase) entry {
	at := slices.IndexFunc(u.Phases, func(b result.Phase) bool { return b.Name == "baseline" })
	if at < 0 || p.Impact == nil {
		return entry{}
	}
	was, known := find(u.Phases[at].Figures, "throughput", "")
	is, also := find(p.Figures, "throughput", "")
	if !known || !also || was.Estimate.Value == 0 {
		return entry{}
	}
	return entry{Value: quantity.Share.Format(is.Estimate.Value / was.Estimate.Value)}
}

func impactEntries(p result.Phase) []entry {
	i, d := p.Impact, disturbanceOf(p)
	if d == nil {
		return make([]entry, 5)
	}
	worst := quantity.Share.Format(i.WorstSecond)
	if i.Usual {
		worst += ", as usual"
	}
	return plainEntries(worst, fmt.Sprint(i.ErrorSeconds), quantity.Count.Format(i.LostOps), d.throughput().inTable("no fall found"), d.p99().inTable("no rise found"))
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
