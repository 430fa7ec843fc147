package result

import "plimsoll/analyze"

// SignalDifference is a signal's mean in the cells of a variant beside its mean in those of the control, over the same levels and
// rounds, warm-up left out.
type SignalDifference struct {
	Signal  string           `json:"signal"`
	Node    string           `json:"node"`
	Unit    string           `json:"unit"` // as in Shown
	Variant string           `json:"variant"`
	Control string           `json:"control"`
	Mean    analyze.Estimate `json:"mean"`         // of the variant
	Before  analyze.Estimate `json:"control_mean"` // of the control
	// Difference is the variant's mean over the control's, in the unit ratio, and where a ratio says nothing (a share; a mean of zero or less in
	// any round) the variant's minus the control's, in the signal's unit; at the confidence that is left when all signals are judged together.
	Difference analyze.JudgedClaim `json:"difference"`
	// Differs says that the data supports a difference: the interval does not hold 1, of a ratio, or 0.
	Differs bool `json:"differs"`
}
