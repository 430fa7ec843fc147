package load_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"plimsoll/load"
)

// What the parts of a load issue together is the load: every operation once, every connection once.
func TestPartsAreTheWhole(t *testing.T) {
	const until = 9 * time.Second
	for name, stages := range curves {
		poisson, err := load.Poisson(42, stages...)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []load.Schedule{schedule(t, load.Uniform, stages...), poisson} {
			for of := 1; of <= 5; of++ {
				whole := load.Spec{Connections: 17, Schedule: sent(t, s)}
				var due []time.Duration
				var workers []int
				rate := 0.0
				for part := range of {
					p := whole.Part(part, of)
					own := all(p.Schedule, until)
					if want := len(all(s, until)); len(own) < want/of || len(own) > want/of+1 {
						t.Errorf("%s: part %d of %d has %d of %d operations", name, part, of, len(own), want)
					}
					due = append(due, own...)
					for w := range p.Connections {
						workers = append(workers, p.FirstWorker+w)
					}
					rate += p.Schedule.Rate(time.Second)
				}
				slices.Sort(due)
				if !slices.Equal(due, all(s, until)) {
					t.Errorf("%s: %d parts are due at other moments than the whole", name, of)
				}
				for w, n := range workers {
					if w != n || len(workers) != 17 {
						t.Fatalf("%d parts have the workers %v", of, workers)
					}
				}
				if want := s.Rate(time.Second); rate < want*(1-1e-9) || rate > want*(1+1e-9) {
					t.Errorf("%s: %d parts have a rate of %v, the whole %v", name, of, rate, want)
				}
			}
		}
	}
}

// sent is a schedule as another process makes it.
func sent(t *testing.T, s load.Schedule) load.Schedule {
	t.Helper()
	recipe, can := s.Recipe()
	if !can {
		t.Fatal("a schedule without a recipe")
	}
	text, err := json.Marshal(recipe)
	if err != nil {
		t.Fatal(err)
	}
	var r load.Recipe
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	made, err := r.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return made
}
