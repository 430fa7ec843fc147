package main

import (
	"math"
	"testing"
	"time"
)

// The short form of the section on memory: one workload on a small pool, up and down.
func TestReadsWithAnotherSizeOfMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	c := memoryCase{
		name: "points", product: "mariadb", workload: "points", parameters: "{rows: {items: 150000}}", pool: 64 << 20,
		config: map[string]string{"innodb_lru_scan_depth": "256"},
		look:   8 * time.Second, warm: 5 * time.Second, measure: 4 * time.Second, sizes: []float64{0.75, 1.5},
	}
	o, err := c.predictAndMeasure(t.Context(), t.TempDir(), testSeed, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	r := o.result()
	for _, p := range r.Points {
		if off := r.off(p, p.Predicted); math.Abs(off) > 0.15 {
			t.Errorf("%v times the memory: off by %+.0f %%", p.Times, 100*off)
		}
	}
	if r.Points[1].Predicted >= r.Now || r.Now <= 0 {
		t.Errorf("more memory does not help: %+v", o.curve)
	}
}

// Where hardly any reads are left, an error that is large beside them is small beside today's, and the page shows both.
func TestAnErrorWhereHardlyAnyReadsAreLeft(t *testing.T) {
	score := memoryScore{}
	score.add(memoryResult{Now: 3}, memoryPoint{Times: 2.5, Truth: 0.06, Predicted: 0.12, High: 0.3})
	score.add(memoryResult{Now: 3}, memoryPoint{Times: 0.5, Truth: 12, Predicted: 18, High: 30})
	if worst, today := score.all.worst(), score.allToday.worst(); math.Abs(worst-1) > 1e-9 || math.Abs(score.allToday[0]-0.02) > 1e-9 || math.Abs(today-0.5) > 1e-9 {
		t.Errorf("off by %v of the truth, and by %v of today's reads", score.all, score.allToday)
	}
}
