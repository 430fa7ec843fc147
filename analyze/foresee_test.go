package analyze

import (
	"math"
	"slices"
	"testing"
	"time"
)

// What is foreseen of twenty seconds must be about what the trial then finds: half the width of the interval around the ratio of two
// variants that do not differ, in three rounds of a minute.
func TestForeseenIsWhatTheTrialFinds(t *testing.T) {
	rng := newRand()
	for _, correlation := range []float64{0, 0.5} {
		for _, noise := range []float64{0.02, 0.1} {
			var ratios []float64
			for range 40 {
				steady := counted(epoch, noisy(rng, 20, 2000, noise, correlation)...)
				foreseen := Foresee(steady, Throughput(), Design{Measure: time.Minute, Rounds: 3}, Options{Seed: testSeed})
				variant := func(from time.Time) Quantity {
					return throughputOf(from, noisy(rng, 60, 2000, noise, correlation), noisy(rng, 60, 2000, noise, correlation), noisy(rng, 60, 2000, noise, correlation))
				}
				e := RatioOf(variant(epoch), variant(epoch.Add(time.Minute)), Options{Seed: testSeed, Replicates: 300})
				ratios = append(ratios, foreseen/(math.Sqrt(e.High/e.Low)-1))
			}
			slices.Sort(ratios)
			if median := ratios[len(ratios)/2]; median < 0.6 || median > 1.4 {
				t.Errorf("noise %v, correlation %v: foreseen %.2f times what was found", noise, correlation, median)
			}
		}
	}
}

func TestMoreRoundsForeseeLess(t *testing.T) {
	steady := counted(epoch, noisy(newRand(), 20, 2000, 0.05, 0.3)...)
	foresee := func(d Design) float64 { return Foresee(steady, Throughput(), d, Options{Seed: testSeed}) }
	short, long := foresee(Design{Measure: 20 * time.Second, Rounds: 3}), foresee(Design{Measure: 2 * time.Minute, Rounds: 6})
	if !(long < short/2) || !(short > 0) {
		t.Errorf("%v, then %v", short, long)
	}
	if nothing := Foresee(nil, Throughput(), Design{Measure: time.Minute, Rounds: 3}, Options{}); !math.IsNaN(nothing) {
		t.Errorf("of nothing: %v", nothing)
	}
}
