package analyze

import (
	"math"
	"slices"
	"testing"
)

func TestResamplingKeepsRoundsBlocksAndPairs(t *testing.T) {
	draw := resampling{rng: newRand(), lengths: [][]int{{20, 7}, {20, 7}, {10, 30}}, blocks: []int{5, 3}}
	weights := [][]int32{make([]int32, 27), make([]int32, 27), make([]int32, 40)}
	sum := func(w []int32) (n int32) {
		for _, x := range w {
			n += x
		}
		return n
	}
	seen := make([]int32, 27)
	for range 2000 {
		draw.draw(weights)
		if !slices.Equal(weights[0], weights[1]) {
			t.Fatalf("two metrics of the same seconds came apart: %v, %v", weights[0], weights[1])
		}
		for i, lengths := range draw.lengths {
			if a, b := sum(weights[i][:lengths[0]]), sum(weights[i][lengths[0]:]); int(a) != lengths[0] || int(b) != lengths[1] {
				t.Fatalf("drew %d and %d seconds of rounds of %v", a, b, lengths)
			}
		}
		for i, w := range weights[0] {
			seen[i] += w
		}
	}
	for i, n := range seen {
		if math.Abs(float64(n)-2000) > 200 {
			t.Errorf("second %d was drawn %d times in 2,000", i, n)
		}
	}
}

// The bootstrap's standard error of a mean is the known one: σ·√(τ/n), short series corrected.
func TestWithinIsTheStandardErrorOfAnAutoregression(t *testing.T) {
	rng := newRand()
	for _, correlation := range []float64{0, 0.6, 0.8} {
		const n, rounds, trials = 60, 5, 60
		var squares float64
		for range trials {
			var values [][]float64
			for range rounds {
				values = append(values, noisy(rng, n, 10_000, 0.05, correlation))
			}
			q := throughputOf(epoch, values...)
			e := measure([]Quantity{q}, func(v []float64) float64 { return v[0] }, false, Options{Replicates: 300})
			squares += e.spread.within * e.spread.within / trials
		}
		tau := (1 + correlation) / (1 - correlation)
		want := 0.05 * math.Sqrt(varianceOfMean(tau, n)/rounds)
		if got := math.Sqrt(squares); !near(got, want, 0.12*want) {
			t.Errorf("ρ=%v: standard error %.5f, want %.5f", correlation, got, want)
		}
	}
}

func TestSameSeedSameNumbers(t *testing.T) {
	rng := newRand()
	q := throughputOf(epoch, noisy(rng, 60, 1000, 0.1, 0.5), noisy(rng, 60, 1000, 0.1, 0.5), noisy(rng, 60, 1000, 0.1, 0.5))
	a, b, c := EstimateOf(q, Options{Seed: 1}), EstimateOf(q, Options{Seed: 1}), EstimateOf(q, Options{Seed: 2})
	if a != b {
		t.Errorf("%+v and %+v", a, b)
	}
	if a == c {
		t.Error("the seed does nothing")
	}
}
