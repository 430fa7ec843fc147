package analyze

import (
	"fmt"
	"math"
	"testing"
)

// The rule of latte's src/stats/timeseries.rs, written down as it streams there: levels of batch means, each with its own
// variance.
func effectiveSizeAsLatte(values []float64) float64 {
	variance := func(x []float64) float64 {
		var squares float64
		for _, v := range x {
			squares += math.Pow(v-mean(x), 2)
		}
		return squares / float64(len(x)-1)
	}
	whole, tau := variance(values), 1.0
	for level, size := values, 1.0; len(level) >= 2; size *= 2 {
		t := size * variance(level) / whole
		if t <= 0.2*size {
			break
		}
		tau = max(tau, t)
		var next []float64
		for i := 0; i+1 < len(level); i += 2 {
			next = append(next, (level[i]+level[i+1])/2)
		}
		level = next
	}
	return float64(len(values)) / tau
}

// effectiveSize is how many independent values a series is worth.
func effectiveSize(values []float64) float64 {
	return float64(len(values)) / correlationTime([][]float64{values})
}

func TestEffectiveSizeFollowsLatte(t *testing.T) {
	rng := newRand()
	for _, n := range []int{16, 60, 300, 1000} {
		for _, correlation := range []float64{0, 0.3, 0.6, 0.8, 0.95} {
			values := noisy(rng, n, 100, 0.1, correlation)
			got, want := effectiveSize(values), effectiveSizeAsLatte(values)
			if !near(got, want, 0.05*want) {
				t.Errorf("n=%d ρ=%v: %.1f effective, latte says %.1f", n, correlation, got, want)
			}
		}
	}
}

func TestEffectiveSizeOfClusters(t *testing.T) {
	rng := newRand()
	for _, cluster := range []int{1, 2, 4, 16, 50} {
		t.Run(fmt.Sprint(cluster), func(t *testing.T) {
			const clusters = 200
			var values []float64
			for range clusters {
				x := rng.Float64()
				for range cluster {
					values = append(values, x)
				}
			}
			if got := effectiveSize(values); got < clusters/2 || got > clusters*2 {
				t.Errorf("%d clusters of %d equal values are worth %.0f", clusters, cluster, got)
			}
		})
	}
}

func TestEffectiveSizeOfNothingNew(t *testing.T) {
	for _, values := range [][]float64{{5}, {5, 5}, {5, 5, 5, 5, 5, 5, 5, 5}} {
		if got := effectiveSize(values); got != float64(len(values)) {
			t.Errorf("%v: %v", values, got)
		}
	}
}

func TestBlockShortfallIsThatOfAnAutoregression(t *testing.T) {
	// Simulated: the share of the variance of the mean that blocks of 8 of 60 keep, at ρ = 0.6 (τ = 4).
	rng := newRand()
	const n, block, trials = 60, 8, 4000
	var means, kept float64
	for range trials {
		x := noisy(rng, n, 1, 1, 0.6)
		m := mean(x)
		means += (m - 1) * (m - 1) / trials
		var squares float64
		for start := range n {
			var sum float64
			for i := range block {
				sum += x[(start+i)%n] - m
			}
			squares += sum * sum / block
		}
		kept += squares / n / n / trials
	}
	if got, want := blockShortfall(4, block, n), kept/means; !near(got, want, 0.05) {
		t.Errorf("shortfall %.3f, simulated %.3f", got, want)
	}
}
