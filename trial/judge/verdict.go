// Package judge keeps what a trial measured, says what became of each phase, and gives the verdict. It compares results too.
package judge

import (
	"fmt"
	"slices"

	"plimsoll/result"
	"plimsoll/trial/spec"

	"plimsoll/analyze"
)

// Course is how a trial went, beside what it measured.
type Course struct {
	Ended   *result.Ended  // before its end; nil: it came to it
	Answer  analyze.Answer // of the change that ended it; "" if none did
	Reason  string         // of that answer
	Partial bool           // something of the plan was not measured
	Invalid []string       // why the measurement itself is not to be believed
	Advice  []string       // what would make it so
	Already []string       // steps that had nothing to do
	Notes   []string

	Unchanged bool // there was nothing to do at all: one of Invalid says so
}

// Verdict answers the expectations with what was measured. What was cut off, by an error, is judged too, but never passes.
func Verdict(t *spec.Trial, r *Recording, c Course) result.Verdict {
	asked := claims(t, r)
	findings := analyze.Judge(asked, t.Options())
	v := result.Verdict{
		Trial: t.Name, Question: t.Question, Partial: c.Partial, Ended: c.Ended,
		Claims: findings, Reasons: []string{}, Notes: c.Notes,
		Cells: Cells(t, r, t.Options()), Phases: phases(t, r, t.Options()),
	}
	v.Verdict, v.Unchanged = analyze.Overall(findings, c.Invalid), c.Unchanged
	v.OneRound = t.OneRound && len(findings) > 0
	v.Reasons = append(v.Reasons, c.Already...)
	switch {
	case c.Ended != nil && c.Ended.How == result.CouldNotRun:
		v.Verdict = analyze.CouldNotRun
		v.Reasons = append(v.Reasons, c.Invalid...)
	case v.Verdict == analyze.Invalid:
		v.Reasons = append(v.Reasons, c.Invalid...)
		v.Advice = c.Advice
	case c.Answer != "":
		if v.Verdict = c.Answer; c.Answer == analyze.Fail {
			v.ChangeFailed = c.Reason
		}
	case c.Partial && v.Verdict == analyze.Pass:
		v.Verdict = analyze.Inconclusive
	}
	v.FactOfOneRound = v.Verdict == analyze.Fail && v.ChangeFailed == "" && !v.OneRound && failedInOneRound(asked, findings)
	switch {
	case v.FactOfOneRound:
		v.Reasons = slices.Insert(v.Reasons, len(c.Already), FactOfOneRound)
	case v.OneRound && v.ChangeFailed == "" && (v.Verdict == analyze.Pass || v.Verdict == analyze.Fail):
		v.Reasons = slices.Insert(v.Reasons, len(c.Already), OneRound)
	}
	switch {
	case c.Ended != nil:
		v.Reasons = append(v.Reasons, said(*c.Ended))
		if c.Ended.Do != "" {
			v.Advice = append(v.Advice, c.Ended.Do)
		}
	case c.Answer != "":
		v.Reasons = append(v.Reasons, c.Reason)
	}
	if v.Ended != nil && !r.measured() {
		v.Ended.Unmeasured = true
		v.Reasons = append(v.Reasons, nothingMeasured)
	} else {
		judged := findings
		if v.Verdict == analyze.CouldNotRun { // what it did not come to measure is no shortcoming of its data
			judged = slices.DeleteFunc(slices.Clone(findings), func(f analyze.JudgedClaim) bool { return f.Verdict == analyze.Inconclusive })
		}
		again := reasons(judged)
		v.Reasons, v.ReasonsOfClaims = append(v.Reasons, again...), len(again)
	}
	if v.Verdict == analyze.Pass && len(findings) > 0 {
		v.Reasons = append(v.Reasons, allHold(len(findings)))
	}
	v.MarkNotJudged()
	return v
}

// nothingMeasured is said of a trial that ended before its load, or while that was warming up.
const nothingMeasured = "nothing was measured"

// OneRound is said first of a trial that asked to be judged by a single round.
const OneRound = "judged by one round, as configured: it is not known whether rounds agree (phases: {rounds: 3} would show it)"

// FactOfOneRound is said first of a trial that nobody asked to be judged by a single round, and that failed in one.
const FactOfOneRound = "one round decided: a number that is known exactly broke its expectation; it is not known whether rounds agree (phases: {rounds: 3} would show it)"

// failedInOneRound tells whether all claims that failed were measured in one round: exact ones, where nobody asked for a single round.
func failedInOneRound(asked []analyze.Claim, findings []analyze.JudgedClaim) bool {
	for i, f := range findings {
		if f.Verdict == analyze.Fail && asked[i].Rounds > 1 {
			return false
		}
	}
	return true
}

// reasons says in a sentence each why a trial did not pass.
func reasons(findings []analyze.JudgedClaim) []string {
	var out []string
	for _, f := range findings {
		switch f.Verdict {
		case analyze.Fail:
			out = append(out, fmt.Sprintf("not met: %s", f.Expect))
		case analyze.Inconclusive:
			out = append(out, fmt.Sprintf("the data cannot tell: %s; %s", f.Expect, f.Needs))
		}
	}
	return out
}

func allHold(n int) string {
	if n == 1 {
		return "the expectation is met"
	}
	return fmt.Sprintf("all %d expectations are met", n)
}

// said is the reason of a verdict for how its trial ended.
func said(e result.Ended) string {
	text := "it was interrupted"
	if e.How == result.CouldNotRun {
		text = "could not run"
	}
	if e.Where != "" {
		text += " in " + e.Where
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}
