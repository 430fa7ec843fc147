package judge

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"
)

// signalKey names a signal of a node.
type signalKey struct{ signal, node string }

// VariantSignals holds each signal's mean in every variant against the control's: why the variants differ is seen in them. Signals that
// never changed are left out.
func VariantSignals(t *spec.Trial, r *Recording, points []series.Point) []result.SignalDifference {
	if len(t.Compare.Variants) == 0 {
		return nil
	}
	readings := bySpell(t, r, points)
	var claims []analyze.Claim
	var out []result.SignalDifference
	control := t.Compare.Variants[0].Name
	for _, key := range slices.SortedFunc(maps.Keys(readings), func(a, b signalKey) int {
		return cmp.Or(cmp.Compare(a.signal, b.signal), cmp.Compare(a.node, b.node))
	}) {
		of := readings[key]
		if still(of) {
			continue
		}
		for _, v := range t.Compare.Variants[1:] {
			both := inAll(of[v.Name], of[control])
			if len(both) == 0 {
				continue
			}
			one := analyze.Quantity{Name: key.signal, Rounds: only(of[v.Name], both), Statistic: analyze.Level()}
			base := analyze.Quantity{Name: key.signal, Rounds: only(of[control], both), Statistic: analyze.Level()}
			o := analyze.Options{Replicates: signalReplicates, Seed: t.Seed}
			_, unit := series.SignalUnit(key.signal)
			out = append(out, result.SignalDifference{
				Signal: key.signal, Node: key.node, Unit: unit, Variant: v.Name, Control: control, Mean: analyze.EstimateOf(one, o), Before: analyze.EstimateOf(base, o),
			})
			claims = append(claims, differsFrom(key.signal, unit, one, base))
		}
	}
	o := t.Options()
	o.Replicates = signalReplicates
	for i, f := range analyze.Judge(claims, o) {
		out[i].Difference, out[i].Differs = f, f.Verdict == analyze.Pass
	}
	return out
}

// differsFrom is the claim that a signal is another than in the control. It is judged by the ratio, as the figures of the comparison are,
// so that a rate of statements and a rate of operations, which are one thing, have one estimate; but all signals are judged together, so
// that the interval of one of hundreds is wider, and what a figure decides it can leave open. By the difference where a ratio says nothing:
// of shares, which are compared in percentage points, and where the mean of any round is zero or less.
func differsFrom(signal, unit string, one, control analyze.Quantity) analyze.Claim {
	if unit != "share" && positive(one.Rounds) && positive(control.Rounds) {
		return differs(signal, control, one)
	}
	return analyze.Claim{
		Text: signal, Quantities: []analyze.Quantity{one, control}, Unit: unit, Op: "!=",
		Estimate: func(x []float64) float64 { return x[0] - x[1] },
	}
}

// positive tells whether a signal's mean is above zero in every round that has readings.
func positive(rounds [][]analyze.Second) bool {
	for _, round := range rounds {
		if len(round) > 0 && !(analyze.Value(analyze.Level(), round) > 0) {
			return false
		}
	}
	return true
}

// signalReplicates is few enough for hundreds of signals.
const signalReplicates = 200

// bySpell sorts readings by signal and variant into rounds; each level of the factors has rounds of its own, so that a variant is
// compared with the control at the same levels.
func bySpell(t *spec.Trial, r *Recording, points []series.Point) map[signalKey]map[string][][]analyze.Second {
	out := map[signalKey]map[string][][]analyze.Second{}
	level := map[string]int{} // of a cell: its place among the cells of its variant
	variant := map[string]string{}
	levels := map[string]int{}
	for _, c := range t.Cells {
		level[c.Name], variant[c.Name] = levels[c.Variant], c.Variant
		levels[c.Variant]++
	}
	periods := slices.DeleteFunc(slices.Clone(r.Phases), func(s *PhaseRecord) bool { return s.Phase == expect.Warmup || s.Round == 0 })
	slices.SortFunc(periods, func(a, b *PhaseRecord) int { return a.From.Compare(b.From) })
	for _, p := range points {
		at, found := slices.BinarySearchFunc(periods, p.Time, func(s *PhaseRecord, at time.Time) int { return s.From.Compare(at) })
		if !found {
			at--
		}
		if at < 0 || p.Time.After(periods[at].To) {
			continue
		}
		s, key := periods[at], signalKey{p.Signal, p.Node}
		if out[key] == nil {
			out[key] = map[string][][]analyze.Second{}
		}
		rounds, place := out[key][variant[s.Cell]], level[s.Cell]*t.Phases.Rounds+s.Round-1
		for len(rounds) <= place {
			rounds = append(rounds, nil)
		}
		rounds[place] = append(rounds[place], analyze.Second{Start: p.Time, Length: Second, Level: p.Value})
		out[key][variant[s.Cell]] = rounds
	}
	return out
}

// still tells a signal that never changed.
func still(of map[string][][]analyze.Second) bool {
	var first *float64
	for _, rounds := range of {
		for _, round := range rounds {
			for _, s := range round {
				if first == nil {
					first = &s.Level
				}
				if s.Level != *first {
					return false
				}
			}
		}
	}
	return true
}
