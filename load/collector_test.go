package load

import (
	"runtime/debug"
	"testing"
)

func TestCollectionsAreHeldBackWhileLoadsRun(t *testing.T) {
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	before := percent()
	var c collector
	first, second := c.holdBack(), c.holdBack()
	first()
	if got := percent(); got < 100 || got == before && liveHeap() < collectEvery {
		t.Errorf("while a load runs the percentage is %d", got)
	}
	second()
	if got := percent(); got != before {
		t.Errorf("after the loads the percentage is %d, was %d", got, before)
	}
	for live, want := range map[uint64]int{0: 6400, 8 << 20: 800, 64 << 20: 100, 1 << 30: 100} {
		if got := percentFor(live); got != want {
			t.Errorf("a heap of %d bytes may grow by %d %%, want %d", live, got, want)
		}
	}
}
