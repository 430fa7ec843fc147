package main

import (
	"testing"
	"time"

	"plimsoll/load"
)

// With no work to do after the freeze, an operation waits for what is left of it.
func TestTheoryOfAFrozenServer(t *testing.T) {
	f := frozen{from: time.Second, to: 4 * time.Second, summary: load.Summary{}}
	got := f.expected(1e9)
	if len(got) != 6000 {
		t.Fatalf("%d operations", len(got))
	}
	for q, want := range map[float64]time.Duration{0.75: 1500 * time.Millisecond, 0.999: 2994 * time.Millisecond, 1: 3 * time.Second, 0.25: 0} {
		if off := timeAt(got, q) - want; off > 2*time.Millisecond || off < -2*time.Millisecond {
			t.Errorf("quantile %v: %v, want %v", q, timeAt(got, q), want)
		}
	}
	slow := f.expected(2000) // as many wait after the freeze as the server works off in twice that time
	if slow[len(slow)-1] < 3*time.Second || timeAt(slow, 0.5) <= timeAt(got, 0.5) {
		t.Error("a server that is slow to catch up delays more")
	}
}
