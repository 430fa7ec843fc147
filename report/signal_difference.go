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
	half := (d.Difference.High - d.Difference.Low) / 2
	if half == 0 {
		return math.Inf(1)
	}
	return math.Abs(d.Difference.Estimate) / half
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
		if !d.Differs || last(d.Signal) > 0 {
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
	if more := len(all) - shownSignals; more > 0 {
		t.Note = fmt.Sprintf("%d smaller differences are in verdict.json. ", more)
		all = all[:shownSignals]
	}
	t.Note += "Means over the measured phases of the rounds that both have; ≈ is a difference that the data cannot distinguish from zero."
	for _, d := range all {
		name, unit := signalName(d)
		difference, between := entry{Value: signed(unit, d.Difference.Estimate)}, ""
		if !d.Differs {
			difference.Value, difference.Tone = "≈ "+difference.Value, same
		}
		if judged(d.Difference) && !math.IsInf(d.Difference.High-d.Difference.Low, 0) {
			between = signed(unit, d.Difference.Low) + " and " + signed(unit, d.Difference.High)
		}
		t.Rows = append(t.Rows, line{Head: name, Ink: -1, Cells: []entry{
			{Value: d.Variant}, {Value: unit.Format(d.Before.Value)}, {Value: unit.Format(d.Mean.Value)}, difference, {Value: between},
		}})
	}
	return t
}

func signed(unit quantity.Unit, v float64) string {
	if v > 0 {
		return "+" + unit.Format(v)
	}
	if v < 0 {
		return "−" + unit.Format(-v)
	}
	return unit.Format(v)
}
