package result

import (
	"math"

	"plimsoll/analyze"
)

// MarkNotJudged marks the claims of a trial that could not run and measured nothing for them. Reports say NOT JUDGED of these.
func (v *Verdict) MarkNotJudged() {
	for i := range v.Claims {
		f := &v.Claims[i]
		f.NotJudged = v.Verdict == analyze.CouldNotRun && f.Verdict == analyze.Inconclusive && !Judged(*f)
	}
}

// Judged tells whether a claim has an estimate.
func Judged(f analyze.JudgedClaim) bool { return f.Confidence > 0 && !math.IsNaN(f.Estimate) }
