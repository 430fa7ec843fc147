package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/analyze"
)

// The level of the load wanders by far more than the effect, and single slices differ by more than it, too.
func TestASmallEffectIsSeenUnderAWanderingLoad(t *testing.T) {
	for _, effect := range []float64{1, 0.99} {
		const trials = 40
		missed, widest := 0, 0.0
		for trial := range trials {
			random := rand.New(rand.NewPCG(uint64(trial), 7))
			var p paired
			level := 0.0
			err := inSlices(t.Context(), 100, uint64(trial), func(_ context.Context, with bool) error {
				level += 0.02 * random.NormFloat64()
				done := 100_000 * math.Exp(level+0.015*random.NormFloat64())
				if with {
					done *= effect
				}
				slice := analyze.Second{Length: 3 * time.Second}
				slice.Done = int64(done)
				p.add(with, slice)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			r := p.ratio()
			if r.Low > effect || r.High < effect {
				missed++
			}
			widest = max(widest, r.High-r.Low)
			if d := p.differ(); d < 0.02 || d > 0.04 {
				t.Errorf("pairs differ by %.3f, expected about 0.029", d)
			}
		}
		if missed > trials/8 { // 2 are expected of 40, more than 5 once in a hundred
			t.Errorf("of %d intervals around %.2f, %d lie beside it", trials, effect, missed)
		}
		if widest > 0.016 {
			t.Errorf("the widest interval around %.2f is %.4f wide, expected 0.016 at most", effect, widest)
		}
	}
}

func TestEachOrderComesAsOftenAsTheOther(t *testing.T) {
	first, same := 0, true
	all, others := orders(100, 1), orders(100, 2)
	for n := range all {
		if all[n] {
			first++
		}
		same = same && all[n] == others[n]
	}
	if first != 50 {
		t.Errorf("%d of 100 pairs begin with what is measured, expected 50", first)
	}
	if same {
		t.Error("two seeds gave the same order")
	}
}
