package judge

import (
	"testing"
	"time"

	"plimsoll/result"

	"plimsoll/series"
)

// A node that was restarted at 20 s misses all, then less and less; the other never did; the third came with the change.
func TestWhenANodeIsWarmAgain(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(second float64) time.Time { return start.Add(time.Duration(second * float64(time.Second))) }
	var points []series.Point
	add := func(node string, second, share, misses float64) {
		points = append(points,
			series.Point{Time: at(second), Signal: "mysql.pool_miss_share", Node: node, Value: share},
			series.Point{Time: at(second), Signal: "mysql.pool_misses_per_second", Node: node, Value: misses},
			series.Point{Time: at(second), Signal: "mysql.threads_running", Node: node, Value: 7})
	}
	for s := 1.5; s < 20; s++ {
		add("n1", s, 0.002, 1)
		add("n2", s, 0.004, 2)
	}
	for s := 20.5; s < 60; s++ {
		add("n2", s, 0.004, 2)
		share := max(0, 0.3-0.02*(s-25)) // below 0.012 from 39.5 s on
		if s > 25 && s != 41.5 {
			add("n1", s, share, 100*share)
		}
		if s == 41.5 {
			add("n1", s, 0.5, 50) // not warm yet
		}
		if s > 30 {
			add("n3", s, 0.5, 10)
		}
	}
	r := &Recording{}
	change := r.Begin(PhaseRecord{Cell: "c", Round: 1, Phase: "lab/restart", From: at(20), Change: true})
	change.warmth = []result.Warmth{
		{Node: "n1", Role: "primary", Share: 0.1}, {Node: "n2", Role: "replica", Share: 1},
		{Node: "n3", Role: "replica", Share: 0}, {Node: "n4", Role: "replica", Share: 0.5},
	}
	for i := range change.warmth {
		change.warmth[i].Since = at(25)
	}
	r.Begin(PhaseRecord{Cell: "c", Round: 1, Phase: "lab/freeze", From: at(55), Change: true})
	r.WarmAgain("c", 1, points)

	for i, want := range []struct {
		asked bool
		warm  time.Duration // negative: not
	}{{true, 17500 * time.Millisecond}, {true, 0}, {true, -1}, {false, -1}} {
		w := change.warmth[i]
		if w.Asked != want.asked || (w.Warm == nil) != (want.warm < 0) || w.Warm != nil && *w.Warm != want.warm {
			t.Errorf("%s: asked %v, warm after %v, want %+v", w.Node, w.Asked, w.Warm, want)
		}
	}
	if got := change.warmth[1].Misses; got != 60 {
		t.Errorf("%v misses between the changes, want 30 seconds of 2", got)
	}
	value := func(f *float64) float64 {
		if f == nil {
			return -1
		}
		return *f
	}
	for node, want := range map[string][2]float64{"": {0, -1}, "primary": {0.1, 17500}, "n2": {1, 0}, "replica": {0, -1}, "n9": {-1, -1}} {
		if share, took := value(r.warmth("c", "lab/restart", node)), value(r.warmTime("c", "lab/restart", node)); share != want[0] || took != want[1] {
			t.Errorf("on %q: %v, %v ms, want %v", node, share, took, want)
		}
	}
}

// While a change is made a node is seen cold, then warm again; another came with it, and one went.
func TestTheColdestIsKept(t *testing.T) {
	change := &PhaseRecord{Before: Memory{"n1": 400, "n2": 380, "n4": 390}}
	var back time.Time
	for i, seen := range []Memory{
		{"n1": 2, "n2": 381, "n4": 390}, {"n2": 380}, {"n1": 8, "n2": 380}, {"n1": 300, "n2": 380, "n3": 100},
	} {
		if i == 2 {
			back = time.Now()
		}
		change.Remember(seen)
	}
	change.Assign([]string{"n1", "n2", "n3"}, "n2")
	if len(change.warmth) != 3 {
		t.Fatalf("%+v", change.warmth)
	}
	for i, want := range []result.Warmth{
		{Node: "n2", Role: "primary", Before: 380, After: 380, Share: 1},
		{Node: "n1", Role: "replica", Before: 400, After: 8, Share: 0.02},
		{Node: "n3", Role: "replica", Before: 400, After: 100, Share: 0.25},
	} {
		got := change.warmth[i]
		if got.Since.Before(back) != (got.Node == "n2") {
			t.Errorf("%s is seen since %v, n1 is back since %v", got.Node, got.Since, back)
		}
		got.Since = time.Time{}
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
