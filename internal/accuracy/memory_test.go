package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/catalog"
)

// The short form of the section on memory: one workload on a small pool, up and down.
func TestReadsWithAnotherSizeOfMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	c := memoryCase{
		name: "points", product: "mariadb", workload: "points", parameters: "{rows: {items: 150000}}", pool: 64 << 20,
		config: map[string]string{"innodb_lru_scan_depth": "256"},
		look:   8 * time.Second, warm: 5 * time.Second, measure: 4 * time.Second, sizes: []float64{0.75, 1.5}, grown: []float64{1.5, 2},
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
	if len(r.Filled) != 2 || r.Filled[0].Came >= r.Filled[1].Came {
		t.Fatalf("filled after a resize: %+v", r.Filled)
	}
	for _, w := range r.Filled {
		if math.Abs(w.off()) > 0.25 {
			t.Errorf("until %v times the memory was full: off by %+.0f %%: %+v", w.Times, 100*w.off(), w)
		}
	}
	if r.Points[1].Predicted >= r.Now || r.Now <= 0 {
		t.Errorf("more memory does not help: %+v", o.curve)
	}
}

// MySQL is measured with several instances on each of the eight workloads, and each of those that are wide has a file that is.
func TestEightWorkloadsWithSeveralInstances(t *testing.T) {
	several := map[string]bool{}
	for _, c := range memoryCases() {
		if c.config["innodb_buffer_pool_instances"] == "4" && c.product == "mysql" && c.pool >= 1<<30 {
			several[c.workload] = true
		}
		text, err := memoryFiles.ReadFile("memory/" + c.workload + ".yaml")
		if !c.wide || c.workload == "tpcc" {
			continue
		}
		if wide := eightfold.Replace(string(text)); err != nil || strings.Contains(wide, "(1000)") || strings.Contains(wide, "text 950") || !strings.Contains(wide, "text 7600") {
			t.Errorf("%s: %v\n%s", c.name, err, wide)
		}
		if _, err := c.make(catalog.Products()["mysql"].Engine); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if len(several) != 8 {
		t.Errorf("with several instances: %v", several)
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
