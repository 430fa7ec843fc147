package main

import (
	"testing"

	"plimsoll/analyze"
)

// The short form of docs/accuracy.md: few trials, with bounds that only a defect breaks. Seed 7.
func TestErrorsOfBothKindsAreRare(t *testing.T) {
	s := study{seed: 7, share: 1}
	for _, correlation := range []float64{0, 0.8} {
		trials := compare(s, countedWorld(correlation), plan{rounds: 5, seconds: 60}, 25)
		for metric, of := range map[string]func(comparison) analyze.Answer{
			"p99":        func(c comparison) analyze.Answer { return c.p99 },
			"throughput": func(c comparison) analyze.Answer { return c.throughput },
		} {
			if wrong := count(trials, func(c comparison) bool { return of(c) == analyze.Fail }); !wrong.atMost(0.01) {
				t.Errorf("%s at correlation %v: %d of %d trials of equals FAILed", metric, correlation, wrong.hits, wrong.of)
			}
		}
		if found := count(trials, func(c comparison) bool { return c.slower == analyze.Fail }); correlation == 0 && !found.atLeast(0.9) {
			t.Errorf("a p99 10 %% longer was found in %d of %d trials", found.hits, found.of)
		}
	}
}

func TestBinomialBounds(t *testing.T) {
	if p := (proportion{hits: 4, of: 100}); p.atMost(0.001) || !p.atMost(0.05) {
		t.Error("4 of 100 are too many for 0.1 %, and not for 5 %")
	}
	if p := (proportion{hits: 50, of: 100}); p.atLeast(0.9) || !p.atLeast(0.5) {
		t.Error("50 of 100 are too few for 90 %, and not for 50 %")
	}
}
