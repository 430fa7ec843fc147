package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// mostDips is how many of a disturbance's dips a sentence each is given to: the deepest. The table has all.
const mostDips = 4

// dipRemarks date the deepest dips of a disturbance in a sentence each, in the order of time.
func (u *run) dipRemarks(p result.Phase) []remark {
	dips := slices.Clone(p.Dips)
	if len(dips) > mostDips {
		slices.SortFunc(dips, func(a, b result.Dip) int { return cmp.Compare(severity(b), severity(a)) })
		dips = dips[:mostDips]
		slices.SortFunc(dips, func(a, b result.Dip) int { return a.Onset.Compare(b.Onset) })
	}
	var all []remark
	for _, d := range dips {
		all = append(all, remark{p.Name, ": " + u.dip(p, d)})
	}
	return all
}

// severity is how much a dip lost, as a share of the baseline or as a factor of its response times.
func severity(d result.Dip) float64 {
	worst := 1 - d.Depth.Value
	if rise := d.Rise.Value; rise > 1 && !math.IsInf(rise, 0) {
		worst = max(worst, 1-1/rise)
	}
	return worst
}

// dip says when it began, during what, how deep it was and when it was over.
func (u *run) dip(p result.Phase, d result.Dip) string {
	var effects []string
	if !d.Usual {
		effects = append(effects, "throughput "+quantity.Share.Format(d.Depth.Value))
	}
	if !d.UsualRise && !math.IsNaN(d.Rise.Value) && !math.IsInf(d.Rise.Value, 0) {
		effects = append(effects, "p99 "+factor(d.Rise.Value))
	}
	how := strings.Join(effects, " and ") + " of the baseline"
	if len(effects) == 0 {
		how = "a little worse than the baseline"
		if d.Errors > 0 {
			how = errorCount(d.Errors)
		}
	}
	after := "as soon as it began"
	if began := d.Onset.Sub(p.From).Round(100 * time.Millisecond); began > 0 {
		after = fmt.Sprintf("%.1f s after it began", began.Seconds())
	}
	text := fmt.Sprintf("from %s on, %s", quantity.Elapsed.Format(d.Onset.Sub(u.Start).Seconds()), after)
	switch words, event := cause(d.During); {
	case words == "":
	case d.When == result.After:
		text += ", " + words
	case event:
		text += ", when " + words
	default:
		text += ", during " + words
	}
	text += ": " + how
	what := "this dip"
	switch {
	case d.Usual && len(effects) > 0:
		what = "this rise"
	case d.Usual && d.Errors > 0:
		what = "this period"
	}
	if took := quantity.Duration(d.Took.Round(10 * time.Millisecond)); d.Recovered.IsZero() {
		text += " in " + what + ", which was not over within the " + took + " that followed" + joined(d) + "."
	} else {
		text += " in " + what + ", which lasted " + took + joined(d) + "."
	}
	return text + u.through(d)
}

// joined says of a dip with good seconds in it how many were worse, "" of one without.
func joined(d result.Dip) string {
	if d.Worse == 0 || d.Worse == d.Seconds {
		return ""
	}
	return fmt.Sprintf(", of which %d seconds were worse than the baseline", d.Worse)
}

// through says what a long dip went on through, and how bad it was in the worst second of each. What was no worse than the
// baseline is left to the table.
func (u *run) through(d result.Dip) string {
	var all []string
	for _, p := range d.Pieces {
		var effects []string
		if !p.Usual && !d.Usual {
			effects = append(effects, "throughput "+quantity.Share.Format(p.Throughput))
		}
		if !p.UsualTimes && !d.UsualRise {
			effects = append(effects, "p99 "+factor(p.Rise))
		}
		if p.Errors > 0 {
			effects = append(effects, errorCount(p.Errors))
		}
		if len(effects) > 0 {
			words, _ := cause(p.During)
			all = append(all, fmt.Sprintf("%s %s at %s", cmp.Or(words, "no step"), strings.Join(effects, " and "), quantity.Elapsed.Format(p.At.Sub(u.Start).Seconds())))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " The worst seconds: " + strings.Join(all, "; ") + "."
}

func errorCount(n int64) string {
	if n == 1 {
		return "1 error"
	}
	return quantity.Count.Format(float64(n)) + " errors"
}

func factor(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.1f×", ratio)
	}
	return quantity.Number(ratio) + "×"
}

// dipTable lists every dip of the run's disturbances.
func (u *run) dipTable() table {
	t := table{Title: "Each time the service was affected", Corner: "at", Columns: []string{"of", "during", "dip throughput", "dip p99 response", "errors", "lasted"}, Words: true}
	pieces := false
	for _, p := range u.Phases {
		for _, d := range p.Dips {
			pieces = pieces || len(d.Pieces) > 0
			var depth, rise entry
			if depth.Value = "as before"; !d.Usual {
				depth.Value, depth.Spread = writeEstimate(quantity.Share, d.Depth)
			}
			rise.Value = "–"
			if d.UsualRise {
				rise.Value = "as before"
			} else if !math.IsNaN(d.Rise.Value) && !math.IsInf(d.Rise.Value, 0) {
				rise.Value = factor(d.Rise.Value)
				if d.Rise.High > d.Rise.Low && !math.IsInf(d.Rise.High-d.Rise.Low, 0) {
					_, rise.Spread = quantity.Plain.PlusMinus(d.Rise.Value, d.Rise.Low, d.Rise.High)
				}
			}
			lasted := quantity.Duration(d.Took.Round(10 * time.Millisecond))
			if d.Recovered.IsZero() {
				lasted = "not over within " + lasted
			}
			lasted += joined(d)
			words, _ := cause(d.During)
			cells := plainEntries(p.Name, cmp.Or(words, "–"))
			cells = append(cells, depth, rise)
			t.Rows = append(t.Rows, line{
				Head: quantity.Elapsed.Format(d.Onset.Sub(u.Start).Seconds()), Ink: -1,
				Cells: append(cells, plainEntries(quantity.Count.Format(float64(d.Errors)), lasted)...),
			})
			t.Rows = append(t.Rows, u.pieceRows(d)...)
		}
	}
	if len(t.Rows) == 0 {
		return t
	}
	t.Note = "A dip lasts from its first affected second to its last, wherever its phase begins and ends. Its throughput and p99 response compare these seconds with the baseline; the table of phases above compares whole phases."
	if pieces {
		t.Note += " A row with ↳ shows the worst second of a step during the dip."
	}
	return t
}

// pieceRows are what a long dip went on through, each with its worst second.
func (u *run) pieceRows(d result.Dip) []line {
	var rows []line
	for _, p := range d.Pieces {
		depth, rise := "as before", "as before"
		if !p.Usual && !d.Usual {
			depth = quantity.Share.Format(p.Throughput)
		}
		switch {
		case p.Rise == 0:
			rise = "–"
		case !p.UsualTimes && !d.UsualRise:
			rise = factor(p.Rise) + " at " + quantity.Elapsed.Format(p.At.Sub(u.Start).Seconds())
		}
		words, _ := cause(p.During)
		rows = append(rows, line{
			Head: "↳ " + quantity.Elapsed.Format(p.From.Sub(u.Start).Seconds()), Ink: -1,
			Cells: plainEntries("", cmp.Or(words, "no step"), depth, rise, quantity.Count.Format(float64(p.Errors)), ""),
		})
	}
	return rows
}
