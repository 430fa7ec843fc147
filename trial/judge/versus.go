package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/analyze"
	"plimsoll/hint"
	"plimsoll/result"
	"plimsoll/trial/expect"
)

// CompareResults lays two results side by side: cells and phases that both have, judged together. Rounds of different runs were
// not measured close together; taken in pairs they gain nothing from it, and lose nothing but rounds that only one has: which those
// are is said, and no figure is of them.
//
// Of results whose loads differ only what means the same in both is laid side by side: operations of one name, where
// others are in one of them alone, since a mix of other operations is another thing; the throughput only if both are
// free to find theirs, or asked for the same; and where one load waits for its answers and one does not, service times.
func CompareResults(first, second *result.Result) (*result.Versus, error) {
	v := &result.Versus{First: first.Dir, Second: second.Dir, Unpaired: []result.Unpaired{}, Notes: []string{}}
	a, err := replay(first)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", first.Dir, err)
	}
	b, err := replay(second)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", second.Dir, err)
	}
	loads, err := loadsOf(first, second)
	if err != nil {
		return nil, err
	}
	claims := differences(v, a, b, loads)
	if loads.first.watched && loads.second.watched {
		claims = append(claims, watchedDifferences(v, first, second)...)
	}
	if len(v.Differences) == 0 {
		if differ := loads.differ(); len(differ) > 0 {
			v.Notes = append(v.Notes, "the loads differ: "+strings.Join(differ, "; "))
		}
		return nil, hint.With(fmt.Errorf("%s and %s have no cell, phase and operation in common", first.Dir, second.Dir), strings.Join(v.Notes, "; "))
	}
	v.Notes = slices.Insert(v.Notes, 0, loads.notes()...)
	v.Notes = append(v.Notes, otherInputs(first, second)...)
	agreement := !byOneRound(v, loads, first, second)
	for i, finding := range analyze.Judge(claims, analyze.Options{Agreement: agreement}) {
		v.Differences[i].Ratio = finding
		v.Differences[i].Differs = finding.Verdict == analyze.Pass
	}
	if one, other := first.Environment.Host["cpu"], second.Environment.Host["cpu"]; one != other {
		v.Notes = append(v.Notes, fmt.Sprintf("the hosts differ: %q and %q", one, other))
	}
	for _, r := range []*result.Result{first, second} {
		var is []string
		if r.Verdict.Verdict == analyze.Invalid {
			is, v.Invalid = append(is, "INVALID"), append(v.Invalid, r.Dir)
		}
		if r.Verdict.Partial {
			is = append(is, "partial")
		}
		if len(is) > 0 {
			v.Notes = append(v.Notes, r.Dir+" is "+strings.Join(is, " and ")+": its report says why")
		}
	}
	return v, nil
}

// byOneRound tells whether a single round of each may show a difference: where that was asked for, and where seconds of a watched
// database are all there is.
func byOneRound(v *result.Versus, loads loads, first, second *result.Result) bool {
	if loads.first.watched && loads.second.watched {
		return true
	}
	if !first.Verdict.OneRound || !second.Verdict.OneRound {
		return false
	}
	v.Notes = append(v.Notes, "both results are "+OneRound)
	return true
}

// differences lists what is to be compared, with a claim for each that it differs.
func differences(v *result.Versus, a, b *Recording, loads loads) (claims []analyze.Claim) {
	for _, place := range a.places() {
		if !slices.Contains(b.places(), place) {
			v.Notes = append(v.Notes, place.String()+" is only in "+v.First)
			continue
		}
		for _, operation := range common(v, place, a, b) {
			first, second := a.Rounds(place.cell, place.phase, "", operation), b.Rounds(place.cell, place.phase, "", operation)
			both := inAll(first, second)
			unpaired(v, v.First, place, operation, others(first, both), both)
			unpaired(v, v.Second, place, operation, others(second, both), both)
			for _, m := range loads.metrics() {
				one := analyze.Quantity{Name: m.String(), Rounds: only(first, both), Statistic: m.Statistic()}
				other := analyze.Quantity{Name: m.String(), Rounds: only(second, both), Statistic: m.Statistic()}
				claims = append(claims, differs(m.String(), one, other))
				v.Differences = append(v.Differences, result.Difference{
					Cell: place.cell, Phase: place.phase, Operation: operation, Rounds: both, Metric: figureName(m), Unit: m.Unit(),
					First: analyze.EstimateOf(one, analyze.Options{}), Second: analyze.EstimateOf(other, analyze.Options{}),
				})
			}
		}
	}
	return claims
}

// differs is the claim that the second quantity is another than the first.
func differs(what string, first, second analyze.Quantity) analyze.Claim {
	return analyze.Claim{
		Text: what, Quantities: []analyze.Quantity{second, first},
		Estimate: func(x []float64) float64 { return x[0] / x[1] }, Ratio: true, Unit: "ratio", Op: "!=", Margin: 1,
	}
}

// unpaired says which rounds of one result the other has not.
func unpaired(v *result.Versus, in string, place spot, operation string, alone, both []int) {
	if len(alone) == 0 {
		return
	}
	v.Unpaired = append(v.Unpaired, result.Unpaired{In: in, Cell: place.cell, Phase: place.phase, Operation: operation, Rounds: alone})
	what := place.String()
	if operation != "" {
		what += ", " + operation
	}
	v.Notes = append(v.Notes, fmt.Sprintf("%s: %s %s only in %s and left out; all figures are of %s of both results",
		what, roundsInWords(alone), map[bool]string{true: "is", false: "are"}[len(alone) == 1], in, roundsInWords(both)))
}

// common are the operations to be laid side by side at a place: all together, "", if both have the same.
func common(v *result.Versus, place spot, a, b *Recording) []string {
	one, other := a.operations(place), b.operations(place)
	if slices.Equal(one, other) {
		return []string{""}
	}
	var both, only []string
	for _, name := range one {
		if slices.Contains(other, name) {
			both = append(both, name)
		} else {
			only = append(only, name)
		}
	}
	alone(v, v.First, only)
	alone(v, v.Second, slices.DeleteFunc(slices.Clone(other), func(name string) bool { return slices.Contains(both, name) }))
	return both
}

func alone(v *result.Versus, where string, operations []string) {
	if len(operations) == 0 {
		return
	}
	note := strings.Join(operations, ", ") + ": only in " + where
	if !slices.Contains(v.Notes, note) {
		v.Notes = append(v.Notes, note)
	}
}

// spot is a cell and phase of a recording.
type spot struct{ cell, phase string }

func (s spot) String() string {
	if s.cell == "" {
		return s.phase
	}
	return s.cell + ", " + s.phase
}

// operations are those of a place, sorted.
func (r *Recording) operations(at spot) []string {
	for _, s := range r.Phases {
		if s.Cell == at.cell && s.Phase == at.phase {
			return slices.Sorted(maps.Keys(s.each))
		}
	}
	return nil
}

func (r *Recording) places() []spot {
	var out []spot
	for _, s := range r.Phases {
		if p := (spot{s.Cell, s.Phase}); s.Phase != expect.Warmup && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
