package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// Of the signals' differences, so many are named under the verdict, and so many stand in the table.
const (
	namedSignals = 3
	shownSignals = 40
)

// weight is how large a difference is against the larger of the two means, from 0 to 1: 1 where one of them is 0.
func weight(d result.SignalDifference) float64 {
	largest := max(math.Abs(d.Mean.Value), math.Abs(d.Before.Value))
	if !d.Differs || largest == 0 {
		return 0
	}
	return min(math.Abs(d.Mean.Value-d.Before.Value)/largest, 1)
}

// certainty is how many times its own interval's half a difference is.
func certainty(d result.SignalDifference) float64 {
	estimate, half := d.Difference.Estimate, (d.Difference.High-d.Difference.Low)/2
	if isRatio(d) {
		estimate, half = math.Log(estimate), math.Log(d.Difference.High/d.Difference.Low)/2
	}
	switch {
	case math.IsNaN(half) || estimate == 0:
		return 0
	case half == 0:
		return math.Inf(1)
	}
	return math.Abs(estimate) / half
}

// isRatio tells a difference that was judged as a ratio.
func isRatio(d result.SignalDifference) bool {
	return quantity.Unit(d.Difference.Unit) == quantity.Ratio
}

// byWeight sorts what the data supports first, the largest first; the load generator's own signals last, since they tell of the load.
func byWeight(all []result.SignalDifference) []result.SignalDifference {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b result.SignalDifference) int {
		return cmp.Or(last(a.Signal)-last(b.Signal), cmp.Compare(weight(b), weight(a)), cmp.Compare(certainty(b), certainty(a)))
	})
	return out
}

// signalLead names the largest differences between variants, "" where the data supports none: "misses 0 % → 20 %".
func signalLead(v result.Verdict) []remark {
	var all []remark
	byVariant := map[string][]string{}
	var variants []string
	for _, d := range byWeight(v.Signals) {
		if !d.Differs || last(d.Signal) > 0 || writtenAlike(d) {
			continue
		}
		if byVariant[d.Variant] == nil {
			variants = append(variants, d.Variant)
		}
		if len(byVariant[d.Variant]) < namedSignals {
			name, unit := signalName(d)
			byVariant[d.Variant] = append(byVariant[d.Variant], fmt.Sprintf("%s %s → %s", name, unit.Format(d.Before.Value), unit.Format(d.Mean.Value)))
		}
	}
	for _, variant := range variants {
		all = append(all, remark{variant, " against " + v.Signals[0].Control + ", the signals that differ most: " + strings.Join(byVariant[variant], "; ") + "."})
	}
	return all
}

// signalName is what a signal of a node is called, without its group.
func signalName(d result.SignalDifference) (string, quantity.Unit) {
	_, rest, grouped := strings.Cut(d.Signal, ".")
	if !grouped {
		rest = d.Signal
	}
	name, unit := unitOf(rest)
	if d.Node != "" {
		name += " on " + d.Node
	}
	return name, unit
}

// signalTable has each signal's mean by variant, with its difference and whether the data supports it.
func signalTable(v result.Verdict) table {
	t := table{Corner: "signal", Columns: []string{"variant", "mean of the control", "mean", "difference", "between"}}
	all := byWeight(v.Signals)
	alike := len(all)
	all = slices.DeleteFunc(all, writtenAlike)
	alike -= len(all)
	if more := len(all) - shownSignals; more > 0 {
		t.Note = fmt.Sprintf("%d smaller differences are in verdict.json. ", more)
		all = all[:shownSignals]
	}
	if alike > 0 {
		t.Note += fmt.Sprintf("%d more, whose two means are the same in the digits shown, %s in verdict.json. ", alike, are(alike))
	}
	t.Note += "Means over the measured phases of the rounds that both have. The difference is the change against the control, with its interval; of shares, " +
		"and where the mean of any round is zero or less, it is one mean minus the other (points are percentage points). ≈ is a difference that the data cannot distinguish " +
		"from none"
	if n := len(v.Signals); n > 1 {
		t.Note += fmt.Sprintf(" when all %d are judged together, which takes wider intervals than one figure by itself", n)
	}
	t.Note += "."
	for _, d := range all {
		name, unit := signalName(d)
		says := func(v float64) string { return signed(unit, v) }
		if isRatio(d) {
			says = quantity.Change
		}
		difference, between := entry{Value: says(d.Difference.Estimate)}, ""
		if !d.Differs {
			difference.Value, difference.Tone = "≈ "+difference.Value, same
		}
		if judged(d.Difference) && !math.IsInf(d.Difference.High-d.Difference.Low, 0) {
			between = says(d.Difference.Low) + " and " + says(d.Difference.High)
		}
		t.Rows = append(t.Rows, line{Head: name, Ink: -1, Cells: []entry{
			{Value: d.Variant}, {Value: unit.Format(d.Before.Value)}, {Value: unit.Format(d.Mean.Value)}, difference, {Value: between},
		}})
	}
	return t
}

// writtenAlike tells a signal whose two means are written the same.
func writtenAlike(d result.SignalDifference) bool {
	_, unit := signalName(d)
	return unit.Format(d.Before.Value) == unit.Format(d.Mean.Value)
}

// signed writes a difference: of shares in points, since 13 % less of 14 % is another thing.
func signed(unit quantity.Unit, v float64) string {
	text := unit.Format(math.Abs(v))
	if unit == quantity.Share {
		text = strings.TrimSuffix(text, "%") + "points"
	}
	switch {
	case v > 0:
		return "+" + text
	case v < 0:
		return "−" + text
	}
	return text
}
