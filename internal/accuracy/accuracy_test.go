package main

import (
	"testing"
	"time"

	"plimsoll/analyze"
)

// The short version of docs/accuracy.md. Every bound is one that fewer than one in a thousand such studies would miss if
// the true share were just what is promised; the seed is fixed, so that a failure means that the code has changed.
const testSeed = 1

func TestEqualsRarelyFailAndSlowerOnesDo(t *testing.T) {
	t.Logf("seed %d", testSeed)
	s := study{seed: testSeed, share: 1}
	five := plan{5, 60}
	for _, c := range []struct {
		service service
		power   float64 // promised; 0: none
	}{
		{service{correlation: 0.6, noise: 0.08, times: drawn}, 0.9},
		{service{correlation: 0.8, noise: 0.10, times: even}, 0},
	} {
		trials := compare(s, c.service, five, 50)
		for name, wrong := range map[string]proportion{
			"p99":        count(trials, func(c comparison) bool { return c.p99 == analyze.Fail }),
			"throughput": count(trials, func(c comparison) bool { return c.throughput == analyze.Fail }),
		} {
			if !wrong.atMost(0.01) {
				t.Errorf("%+v: %s of equals FAILed in %v", c.service, name, wrong)
			}
		}
		if found := count(trials, func(c comparison) bool { return c.slower == analyze.Fail }); !found.atLeast(c.power) {
			t.Errorf("%+v: a p99 that is 10 %% longer was found in %v, promised %v", c.service, found, c.power)
		}
		if c.service.times == even {
			// The simulation is hard enough to catch a method that takes seconds for independent.
			if naive := count(trials, func(c comparison) bool { return c.welch }); naive.share() < 0.05 {
				t.Errorf("even the naive test is wrong in %v only", naive)
			}
		}
	}
}

func TestRatiosOfRoundsThatDiffer(t *testing.T) {
	t.Logf("seed %d", testSeed)
	s := study{seed: testSeed, share: 0.25}
	for _, rounds := range []int{3, 5} {
		for _, b := range [][2]float64{{0, 0}, {3, 3}, {0, 10}} {
			ratios, _ := throughputRatios(s, rounds, b[0], b[1])
			above := count(ratios, func(i interval) bool { return i.low > 1 })
			below := count(ratios, func(i interval) bool { return i.high < 1 })
			if !above.atMost(0.01) || !below.atMost(0.01) {
				t.Errorf("%d rounds, b %v: above the truth in %v, below in %v", rounds, b, above, below)
			}
		}
	}
}

func TestIntervalsOfOneRoundHoldTheTruth(t *testing.T) {
	t.Logf("seed %d", testSeed)
	s := study{seed: testSeed, share: 1}
	for correlation, promised := range map[float64]float64{0: 0.985, 0.6: 0.98, 0.8: 0.97} {
		w := countedService(correlation)
		within := repeat(s, "one round", 150, func(src *source) bool {
			e := analyze.EstimateOf(analyze.Quantity{Rounds: src.rounds(w, 1, 300, 1), Statistic: analyze.Throughput()}, analyze.Options{})
			return e.Low <= meanThroughput(w) && meanThroughput(w) <= e.High
		})
		if held := count(within, func(b bool) bool { return b }); !held.atLeast(promised) {
			t.Errorf("ρ=%v: the truth is inside in %v, promised %v", correlation, held, promised)
		}
	}
}

func TestDisturbancesAreDated(t *testing.T) {
	t.Logf("seed %d", testSeed)
	s := study{seed: testSeed, share: 1}
	for _, correlation := range []float64{0, 0.6} {
		dates := repeat(s, "date", 100, func(src *source) dating {
			return disturb(src, service{correlation: correlation, noise: 0.1, times: none}, 0.2)
		})
		if onset := count(dates, func(d dating) bool { return d.onsetWithin(1) }); !onset.atLeast(0.98) {
			t.Errorf("ρ=%v: onset of a fall by 20 %% found within a second in %v", correlation, onset)
		}
	}
	quiet := repeat(s, "quiet", 60, func(src *source) dating {
		return disturb(src, service{correlation: 0.6, noise: 0.1, times: drawn}, 0)
	})
	if found := count(quiet, func(d dating) bool { return d.found }); !found.atMost(0.02) {
		t.Errorf("where nothing happened an onset was found in %v", found)
	}
}

func TestWarmUpsEndWhenTheyShould(t *testing.T) {
	t.Logf("seed %d", testSeed)
	s := study{seed: testSeed, share: 1}
	w := service{noise: 0.10, correlation: 0.6}
	rising := repeat(s, "rising", 30, func(src *source) bool {
		for range steadySeconds(src, w, time.Minute, 120, func(i int) float64 { return 1 + 0.3*float64(i)/60 }) {
			return true
		}
		return false
	})
	if called := count(rising, func(b bool) bool { return b }); !called.atMost(0.01) {
		t.Errorf("a service that rises by 30 %% a minute was called steady in %v", called)
	}
	flat := repeat(s, "flat", 30, func(src *source) float64 { return warmUp(src, w, time.Minute, always) })
	if typical := median(flat); typical > 90 {
		t.Errorf("a flat service is steady after %v s", typical)
	}
}
