package trial

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/result"

	"plimsoll/analyze"
)

// judge answers the expectations with what was measured. What was cut off, by an error, is judged too, but never passes.
func (r *runner) judge(cut error) result.Verdict {
	partial := cut != nil || r.halted != nil
	r.doubtGenerator()
	t := r.trial
	for _, note := range t.leftOut(&r.recording) {
		r.note("%s", note)
	}
	findings := analyze.Judge(t.claims(&r.recording), t.options())
	v := result.Verdict{
		Trial: t.Name, Question: t.Question, Partial: partial,
		Claims: findings, Reasons: []string{}, Notes: r.notes,
		Cells: t.describe(&r.recording, t.options()), Phases: t.phases(&r.recording, t.options()),
	}
	v.Verdict = analyze.Overall(findings, r.invalid)
	v.Reasons = append(v.Reasons, r.already...)
	if v.OneRound = t.oneRound && len(findings) > 0; v.OneRound && (v.Verdict == analyze.Pass || v.Verdict == analyze.Fail) {
		v.Reasons = append(v.Reasons, oneRound)
	}
	v.Ended = r.ended(cut)
	switch {
	case v.Ended != nil && v.Ended.How == result.CouldNotRun:
		v.Verdict = analyze.CouldNotRun
		v.Reasons = append(v.Reasons, r.invalid...)
	case v.Verdict == analyze.Invalid:
		v.Reasons = append(v.Reasons, r.invalid...)
		if !t.countsOnly() {
			v.Advice = r.doubts.advice()
		}
	case r.halted != nil:
		v.Verdict = r.halted.answer
	case partial && v.Verdict == analyze.Pass:
		v.Verdict = analyze.Inconclusive
	}
	switch {
	case v.Ended != nil:
		v.Reasons = append(v.Reasons, said(*v.Ended))
		if v.Ended.Do != "" {
			v.Advice = append(v.Advice, v.Ended.Do)
		}
	case r.halted != nil:
		v.Reasons = append(v.Reasons, r.halted.reason)
	}
	v.Reasons = append(v.Reasons, reasons(findings)...)
	if v.Verdict == analyze.Pass && len(findings) > 0 {
		v.Reasons = append(v.Reasons, allHold(len(findings)))
	}
	return v
}

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

// ended is how a trial ended before its end: a person interrupted it, or something that it needs was missing or wrong. It is nil of
// one that came to its end, or whose change answered the question by failing.
func (r *runner) ended(cut error) *result.Ended {
	switch {
	case errors.Is(cut, context.Canceled):
		return &result.Ended{How: result.Interrupted, Where: r.at}
	case cut != nil:
		return &result.Ended{How: result.CouldNotRun, Where: r.at, Why: cut.Error(), Do: adviceOf(cut)}
	case r.halted != nil && r.halted.answer == analyze.CouldNotRun:
		return &result.Ended{How: result.CouldNotRun, Where: r.at, Why: r.halted.reason, Do: r.halted.advice}
	}
	return nil
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
