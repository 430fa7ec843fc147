package result

import "plimsoll/analyze"

// Difference is one metric of a cell and phase in two results.
type Difference struct {
	Cell  string `json:"cell,omitempty"`
	Phase string `json:"phase,omitempty"`
	// Operation is the one that both have, where they have others too; "": all together.
	Operation string           `json:"operation,omitempty"`
	Rounds    []int            `json:"rounds"` // that both have, from 1: First, Second and Ratio are of these
	Metric    string           `json:"metric"`
	Unit      string           `json:"unit"`
	First     analyze.Estimate `json:"first"`
	Second    analyze.Estimate `json:"second"`
	// Ratio is second over first, at the confidence that is left when all differences are judged together.
	Ratio analyze.JudgedClaim `json:"ratio"`
	// Differs says that the data supports a difference: the interval does not hold 1.
	Differs bool `json:"differs"`
}

// Versus are two results side by side.
type Versus struct {
	First       string       `json:"first"`
	Second      string       `json:"second"`
	Differences []Difference `json:"differences"`
	Unpaired    []Unpaired   `json:"unpaired"` // what was measured and has nothing beside it: no figure is of it
	Notes       []string     `json:"notes"`
	Invalid     []string     `json:"invalid,omitempty"` // the results whose measurements are not valid: no number is to be believed
}

// Unpaired are rounds that only one of two results has.
type Unpaired struct {
	In        string `json:"in"` // the result
	Cell      string `json:"cell,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Operation string `json:"operation,omitempty"`
	Rounds    []int  `json:"rounds"`
}
