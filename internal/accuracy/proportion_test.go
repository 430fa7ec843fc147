package main

import (
	"math"
	"testing"
)

func TestProportion(t *testing.T) {
	// Clopper and Pearson's own tables: 0 of 10 leaves up to 30.8 %, 5 of 10 18.7 to 81.3 %.
	for _, c := range []struct {
		p         proportion
		low, high float64
	}{{proportion{0, 10}, 0, 0.3085}, {proportion{5, 10}, 0.1871, 0.8129}, {proportion{10, 10}, 0.6915, 1}} {
		if low, high := c.p.interval(); math.Abs(low-c.low) > 0.0001 || math.Abs(high-c.high) > 0.0001 {
			t.Errorf("%+v: %.4f to %.4f", c.p, low, high)
		}
	}
	// Of 100 trials at 1 %, 6 or more come once in 1,870 studies, 5 or more once in 291.
	if !(proportion{5, 100}).atMost(0.01) || (proportion{6, 100}).atMost(0.01) {
		t.Error("bound of 1 % in 100 trials")
	}
	// At 90 %, 80 or fewer come once in 508, 79 or fewer once in 1,250.
	if !(proportion{80, 100}).atLeast(0.9) || (proportion{79, 100}).atLeast(0.9) {
		t.Error("bound of 90 % in 100 trials")
	}
}
