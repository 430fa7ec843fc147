package analyze

import "math"

// between returns the ways to see how the rounds differ: by the estimate that each round leaves when it is left out, all
// its quantities together; and for a ratio of two quantities that were measured one after the other, by each quantity's
// own rounds. The first knows when both were disturbed together, the second has up to twice the degrees of freedom. A
// disturbance common to both quantities only makes the second wider than need be.
func (m *measurement) between(without []float64, scale func(float64) float64, ratio bool) []between {
	free := float64(m.rounds - 1)
	ways := []between{{err: jackknife(without, scale), freedom: free}}
	if ratio && len(m.parts) == 2 && !m.parts[0].start.Equal(m.parts[1].start) {
		a, b := jackknife(m.withoutEach(0), scale), jackknife(m.withoutEach(1), scale)
		if sum := a*a + b*b; sum > 0 && !math.IsInf(sum, 0) {
			// Degrees of freedom of a sum of variances: Welch 1947.
			ways = append(ways, between{err: math.Sqrt(sum), freedom: free * sum * sum / (a*a*a*a + b*b*b*b)})
		}
	}
	return ways
}

// withoutEach returns the estimates that leave one round of some parts out.
func (m *measurement) withoutEach(parts ...int) []float64 {
	out := make([]float64, m.rounds)
	for r := range out {
		weights := m.whole()
		for _, i := range parts {
			clear(byRound(weights[i], m.parts[i].lengths)[r])
		}
		out[r] = m.value(weights)
	}
	return out
}

// all are the indexes of the parts.
func (m *measurement) all() []int {
	all := make([]int, len(m.parts))
	for i := range all {
		all[i] = i
	}
	return all
}

// jackknife is the standard error of an estimate from what it is without each round (Efron 1982, 3.2): of a mean of rounds
// it is the usual one, of a percentile it is that of the merged histograms. It is infinite where one has no value.
func jackknife(without []float64, scale func(float64) float64) float64 {
	scaled := make([]float64, len(without))
	for i, x := range without {
		scaled[i] = scale(x)
	}
	variance, _ := varianceWithin([][]float64{scaled})
	n := float64(len(without))
	err := (n - 1) / math.Sqrt(n) * math.Sqrt(variance)
	if math.IsNaN(err) {
		return math.Inf(1)
	}
	return err
}
