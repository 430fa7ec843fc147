package main

import (
	"math"
	"testing"
	"time"
)

// A pool that comes closer to what the load asks for, by a time constant of a minute, has settled once little is left to gain.
func TestReadsHaveSettledWhenTheyNoLongerFall(t *testing.T) {
	var s settling
	now := work{}
	for looks := 1; ; looks++ {
		now.operations += 100
		now.reads += int64(100 * (1 + 2*math.Exp(-float64(looks)/240)))
		now.took += 250 * time.Millisecond
		if s.settled(now) {
			if off := 2 * math.Exp(-float64(looks)/240); off > 0.25 {
				t.Errorf("settled after %s, when %.0f %% more than in the end were read", now.took, 100*off)
			}
			return
		}
		if looks > 4000 {
			t.Fatal("never settled, though reads no longer fall")
		}
	}
}

func TestFewReadsDoNotTellWhetherTheyFall(t *testing.T) {
	var s settling
	now := work{}
	for range 100 {
		now.operations, now.reads = now.operations+100, now.reads+10
		if s.settled(now) {
			t.Fatalf("settled after %d reads", now.reads)
		}
	}
}
