package random

import "math/rand/v2"

// Weights draws indexes in proportion to weights.
type Weights struct{ upTo []float64 }

// NewWeights returns the Weights of these, which are at least 0 and not all 0.
func NewWeights(weights []float64) Weights {
	upTo := make([]float64, len(weights))
	sum := 0.0
	for i, w := range weights {
		sum += w
		upTo[i] = sum
	}
	return Weights{upTo}
}

// Draw returns an index. Of a single weight it uses no random number.
func (w Weights) Draw(r *rand.Rand) int {
	last := len(w.upTo) - 1
	if last == 0 {
		return 0
	}
	u := r.Float64() * w.upTo[last]
	for i, end := range w.upTo[:last] {
		if u < end {
			return i
		}
	}
	return last
}
