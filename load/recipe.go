package load

import "fmt"

// Recipe says how a schedule is made, so that another process can make the same.
type Recipe struct {
	Arrivals string  `json:"arrivals"` // uniform or poisson
	Seed     uint64  `json:"seed,omitempty"`
	Stages   []Stage `json:"stages"`
}

func (s uniform) Recipe() (Recipe, bool) {
	return Recipe{Arrivals: "uniform", Stages: s.stages()}, true
}

func (s poisson) Recipe() (Recipe, bool) {
	return Recipe{Arrivals: "poisson", Seed: s.seed, Stages: s.stages()}, true
}

// Recipe implements Schedule: a share of a schedule is divided no further.
func (everyNth) Recipe() (Recipe, bool) { return Recipe{}, false }

// Schedule makes the schedule.
func (r Recipe) Schedule() (Schedule, error) {
	switch r.Arrivals {
	case "uniform":
		return Uniform(r.Stages...)
	case "poisson":
		return Poisson(r.Seed, r.Stages...)
	}
	return nil, fmt.Errorf("a schedule with arrivals %q", r.Arrivals)
}

func (c curve) stages() []Stage {
	stages := make([]Stage, len(c.pieces))
	for i, p := range c.pieces {
		stages[i] = p.Stage
	}
	return stages
}
