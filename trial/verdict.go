package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/analyze"
)

// judge answers the expectations with what was measured. What was cut off, by an error, is judged too, but never passes.
func (r *runner) judge(cut error) Verdict {
	partial := cut != nil
	t := r.trial
	findings := analyze.Judge(t.claims(&r.recording), t.options())
	v := Verdict{
		Trial: t.Name, Question: t.Question, Partial: partial,
		Claims: findings, Reasons: []string{}, Notes: r.notes,
		Cells: t.describe(&r.recording, t.options()), Phases: t.phases(&r.recording, t.options()),
	}
	v.Verdict = analyze.Overall(findings, r.invalid)
	switch {
	case v.Verdict == analyze.Invalid:
		v.Reasons = append(v.Reasons, r.invalid...)
	case partial && v.Verdict == analyze.Pass:
		v.Verdict = analyze.Inconclusive
	}
	if partial {
		v.Reasons = append(v.Reasons, "cut off before its end: "+cutBy(cut))
	}
	v.Reasons = append(v.Reasons, reasons(findings)...)
	return v
}

// reasons says in a sentence each why a trial did not pass, or that it did.
func reasons(findings []analyze.Finding) []string {
	out := []string{}
	for _, f := range findings {
		switch f.Verdict {
		case analyze.Fail:
			out = append(out, fmt.Sprintf("not so: %s", f.Expect))
		case analyze.Inconclusive:
			out = append(out, fmt.Sprintf("the data cannot tell: %s; %s", f.Expect, f.Needs))
		}
	}
	if len(out) == 0 && len(findings) > 0 {
		n := fmt.Sprintf("all %d expectations hold", len(findings))
		if len(findings) == 1 {
			n = "the expectation holds"
		}
		out = append(out, n)
	}
	return slices.Clip(out)
}

// cutBy says why a trial was cut off.
func cutBy(err error) string {
	if errors.Is(err, context.Canceled) {
		return "it was interrupted"
	}
	return err.Error()
}
