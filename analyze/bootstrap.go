package analyze

import (
	"math"
	"math/rand/v2"
)

// resampling draws seconds anew, in blocks, for several samples at once: a circular block bootstrap (Politis and Romano
// 1992) in each round. All samples of a round are cut at the same places, so that two metrics of the same seconds stay
// together; for metrics of different seconds that changes nothing.
type resampling struct {
	rng     *rand.Rand
	lengths [][]int // seconds by round, for each sample
	blocks  []int   // length of a block by round
}

// draw writes how often each second is drawn; weights stand one round after the other.
func (r resampling) draw(weights [][]int32) {
	for i := range weights {
		clear(weights[i])
	}
	from := make([]int, len(weights))
	for round, block := range r.blocks {
		for drawn, more := 0, true; more; drawn += block {
			at := r.rng.Float64()
			more = false
			for i := range weights {
				n := r.lengths[i][round]
				if drawn < n {
					drawBlock(weights[i][from[i]:from[i]+n], int(at*float64(n)), min(block, n-drawn))
				}
				more = more || drawn+block < n
			}
		}
		for i := range weights {
			from[i] += r.lengths[i][round]
		}
	}
}

// drawBlock counts length seconds from start on, going round the end.
func drawBlock(weights []int32, start, length int) {
	for i := range length {
		at := start + i
		if at >= len(weights) {
			at -= len(weights)
		}
		weights[at]++
	}
}

// deviation is the standard deviation of scaled values. It is infinite when more than one in twenty has no finite value.
func deviation(values []float64, scale func(float64) float64) float64 {
	var kept []float64
	for _, x := range values {
		if x = scale(x); !math.IsNaN(x) && !math.IsInf(x, 0) {
			kept = append(kept, x)
		}
	}
	if 20*(len(values)-len(kept)) > len(values) || len(kept) < 2 {
		return math.Inf(1)
	}
	variance, _ := varianceWithin([][]float64{kept})
	return math.Sqrt(variance)
}
