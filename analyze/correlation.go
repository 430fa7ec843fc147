package analyze

import "math"

// correlationTime is how many values of a correlated series are worth one independent value, at least 1. It is found by
// batch means over powers of two (Schmeiser 1982; the stopping rule is that of latte's src/stats/timeseries.rs):
//
//	τ = max over b = 1, 2, 4, … of b·Var(means of b values)/Var(values), while that is more than 0.2·b
//
// The series come from rounds; batches do not cross from one to the next, and each round is measured around its own mean.
func correlationTime(rounds [][]float64) float64 {
	variance, batches := varianceWithin(rounds)
	if variance == 0 || batches < 2 {
		return 1
	}
	tau := 1.0
	means := rounds
	for size := 2.0; ; size *= 2 {
		means = inPairs(means)
		v, n := varianceWithin(means)
		if n < 2 {
			return tau
		}
		t := size * v / variance
		if t <= 0.2*size {
			return tau
		}
		tau = max(tau, t)
	}
}

// inPairs returns the means of each two neighbours; an odd last one is dropped.
func inPairs(rounds [][]float64) [][]float64 {
	out := make([][]float64, len(rounds))
	for r, values := range rounds {
		out[r] = make([]float64, len(values)/2)
		for i := range out[r] {
			out[r][i] = (values[2*i] + values[2*i+1]) / 2
		}
	}
	return out
}

// varianceWithin is the pooled variance of the values around the mean of their round, and how many values it comes from.
func varianceWithin(rounds [][]float64) (variance float64, n int) {
	var squares float64
	free := 0
	for _, values := range rounds {
		if len(values) < 2 {
			continue
		}
		m := mean(values)
		for _, x := range values {
			squares += (x - m) * (x - m)
		}
		n += len(values)
		free += len(values) - 1
	}
	if free == 0 {
		return 0, n
	}
	return squares / float64(free), n
}

func mean(values []float64) float64 {
	var sum float64
	for _, x := range values {
		sum += x
	}
	return sum / float64(len(values))
}

// blockLength is how many seconds in a row a bootstrap has to draw together: at least twice the correlation time and the root
// of their number, but at most a third of them. A single round, whose interval has nothing else to go by, is cut into
// longer ones yet, because a slow wave under much faster noise hardly shows in the correlation time.
func blockLength(tau float64, seconds, rounds int) int {
	least := math.Sqrt(float64(seconds))
	if rounds == 1 {
		least *= 1.5
	}
	return max(1, min(int(math.Ceil(max(2*tau, least))), seconds/3))
}

// blockShortfall is the factor by which the variance of a block bootstrap falls short, because blocks cut what is
// correlated apart and because the series' own mean is not the true one. It is exact for the mean of a first-order
// autoregressive series of the given correlation time, and 1 for none.
func blockShortfall(tau float64, block, seconds int) float64 {
	b, n := float64(block), float64(seconds)
	short := b * (varianceOfMean(tau, b) - varianceOfMean(tau, n))
	if short <= 0 {
		return 1
	}
	return short / (n * varianceOfMean(tau, n))
}

// varianceOfMean of n values of a first-order autoregressive series of unit variance.
func varianceOfMean(tau, n float64) float64 {
	phi := (tau - 1) / (tau + 1)
	return (tau - 2*phi*(1-math.Pow(phi, n))/(n*(1-phi)*(1-phi))) / n
}
