package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/series"
)

// watchedDifferences lists the signals that both of two watched periods have, node by node, with a claim for each that its mean
// differs. One whose mean is nothing in one of them has no ratio, and is told in a note where it is something in the other.
func watchedDifferences(v *result.Versus, first, second *result.Result) (claims []analyze.Claim) {
	one, other := watchedSignals(first), watchedSignals(second)
	keys := make([]watchedSignal, 0, len(one))
	for key := range one {
		if len(other[key]) > 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b watchedSignal) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.signal, b.signal))
	})
	for _, key := range keys {
		name, unit := series.SignalUnit(key.signal)
		a, b := levelOf(key.signal, one[key]), levelOf(key.signal, other[key])
		before, after := analyze.EstimateOf(a, analyze.Options{}), analyze.EstimateOf(b, analyze.Options{})
		if before.Value <= 0 || after.Value <= 0 {
			if before.Value != after.Value {
				v.Notes = append(v.Notes, fmt.Sprintf("%s of %s: %.3g, then %.3g", key.signal, key.node, before.Value, after.Value))
			}
			continue
		}
		claims = append(claims, differs(key.signal, a, b))
		v.Differences = append(v.Differences, result.Difference{Cell: key.node, Phase: "signals", Metric: name, Unit: unit, First: before, Second: after})
	}
	return claims
}

type watchedSignal struct{ node, signal string }

func watchedSignals(r *result.Result) map[watchedSignal][]analyze.Second {
	all := map[watchedSignal][]analyze.Second{}
	for _, p := range r.Signals {
		key := watchedSignal{p.Node, p.Signal}
		all[key] = append(all[key], analyze.Second{Start: p.Time, Length: time.Second, Level: p.Value})
	}
	return all
}

func levelOf(signal string, seconds []analyze.Second) analyze.Quantity {
	return analyze.Quantity{Name: signal, Rounds: [][]analyze.Second{seconds}, Statistic: analyze.Level()}
}
