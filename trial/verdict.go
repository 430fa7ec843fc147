package trial

import (
	"fmt"

	"plimsoll/result"

	"plimsoll/analyze"
)

// course is how a trial went, beside what it measured.
type course struct {
	ended   *result.Ended  // before its end; nil: it came to it
	answer  analyze.Answer // of the change that ended it; "" if none did
	reason  string         // of that answer
	partial bool           // something of the plan was not measured
	invalid []string       // why the measurement itself is not to be believed
	advice  []string       // what would make it so
	already []string       // steps that had nothing to do
	notes   []string
}

// verdictOf answers the expectations with what was measured. What was cut off, by an error, is judged too, but never passes.
func (t *Trial) verdictOf(r *recording, c course) result.Verdict {
	findings := analyze.Judge(t.claims(r), t.options())
	v := result.Verdict{
		Trial: t.Name, Question: t.Question, Partial: c.partial, Ended: c.ended,
		Claims: findings, Reasons: []string{}, Notes: c.notes,
		Cells: t.describe(r, t.options()), Phases: t.phases(r, t.options()),
	}
	v.Verdict = analyze.Overall(findings, c.invalid)
	v.Reasons = append(v.Reasons, c.already...)
	if v.OneRound = t.oneRound && len(findings) > 0; v.OneRound && (v.Verdict == analyze.Pass || v.Verdict == analyze.Fail) {
		v.Reasons = append(v.Reasons, oneRound)
	}
	switch {
	case c.ended != nil && c.ended.How == result.CouldNotRun:
		v.Verdict = analyze.CouldNotRun
		v.Reasons = append(v.Reasons, c.invalid...)
	case v.Verdict == analyze.Invalid:
		v.Reasons = append(v.Reasons, c.invalid...)
		v.Advice = c.advice
	case c.answer != "":
		v.Verdict = c.answer
	case c.partial && v.Verdict == analyze.Pass:
		v.Verdict = analyze.Inconclusive
	}
	switch {
	case c.ended != nil:
		v.Reasons = append(v.Reasons, said(*c.ended))
		if c.ended.Do != "" {
			v.Advice = append(v.Advice, c.ended.Do)
		}
	case c.answer != "":
		v.Reasons = append(v.Reasons, c.reason)
	}
	if v.Ended != nil && len(r.phases) == 0 {
		v.Ended.Unmeasured = true
		v.Reasons = append(v.Reasons, nothingMeasured)
	} else {
		again := reasons(findings)
		v.Reasons, v.ReasonsOfClaims = append(v.Reasons, again...), len(again)
	}
	if v.Verdict == analyze.Pass && len(findings) > 0 {
		v.Reasons = append(v.Reasons, allHold(len(findings)))
	}
	return v
}

// nothingMeasured is said of a trial that ended before its load.
const nothingMeasured = "nothing was measured"

// oneRound is said first of a trial that asked to be judged by a single round.
const oneRound = "judged by one round, as asked: whether rounds agree was not seen (phases: {rounds: 3})"

// reasons says in a sentence each why a trial did not pass.
func reasons(findings []analyze.Finding) []string {
	var out []string
	for _, f := range findings {
		switch f.Verdict {
		case analyze.Fail:
			out = append(out, fmt.Sprintf("not so: %s", f.Expect))
		case analyze.Inconclusive:
			out = append(out, fmt.Sprintf("the data cannot tell: %s; %s", f.Expect, f.Needs))
		}
	}
	return out
}

func allHold(n int) string {
	if n == 1 {
		return "the expectation holds"
	}
	return fmt.Sprintf("all %d expectations hold", n)
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
