package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/report/quantity"
)

// answers are the verdicts, the best first.
var answers = []analyze.Answer{analyze.Pass, analyze.Fail, analyze.Inconclusive, analyze.Invalid, analyze.CouldNotRun}

// class is an answer for the style sheet.
func class(a analyze.Answer) string { return strings.ReplaceAll(strings.ToLower(string(a)), " ", "-") }

// sign is an answer as one letter that stands apart without colour.
func sign(a analyze.Answer) string {
	switch a {
	case analyze.Pass:
		return "✓"
	case analyze.Fail:
		return "✗"
	case analyze.Inconclusive:
		return "≈"
	case analyze.Invalid:
		return "⊘"
	case analyze.CouldNotRun:
		return "!"
	}
	return "·"
}

// answer is the verdict's word; a trial that was cut off has none of its own, and what a watch recorded has none.
func answer(v result.Verdict) string {
	if v.Watched != nil {
		return result.Recorded
	}
	return cmp.Or(string(v.Verdict), "UNJUDGED")
}

// classOf is a verdict for the style sheet.
func classOf(v result.Verdict) string {
	if v.Watched != nil {
		return class(result.Recorded)
	}
	return class(v.Verdict)
}

// name is what the trial is called; one that was cut off early is known by its folder.
func name(r *result.Result) string {
	return cmp.Or(r.Verdict.Trial, filepath.Base(r.Dir))
}

// meaning says in one sentence what a verdict amounts to.
func meaning(v result.Verdict) string {
	if v.OneRound && v.ChangeFailed == "" && (v.Verdict == analyze.Pass || v.Verdict == analyze.Fail) {
		return "Judged by one round: whether rounds agree was not seen. " + amount(v)
	}
	if v.FactOfOneRound {
		return "One round decided, since what failed is known exactly; whether rounds agree was not seen. " + amount(v)
	}
	return amount(v)
}

func amount(v result.Verdict) string {
	count := map[analyze.Answer]int{}
	for _, c := range v.Claims {
		count[c.Verdict]++
	}
	all := len(v.Claims)
	switch {
	case v.Verdict == analyze.Invalid:
		return "The measurement is not valid, so its numbers do not answer the question."
	case v.Verdict == analyze.CouldNotRun:
		return "The trial could not run to its end, and the cause does not answer its question."
	case v.Verdict == "" && v.Ended != nil && v.Ended.How == result.Died:
		return "The process of the trial was killed before it judged: there is no verdict."
	case v.Verdict == "" && v.Ended != nil && v.Ended.How == result.Goes:
		return "The trial is still running."
	case v.Verdict == "":
		return "The trial was interrupted before it was judged, or is still running."
	case v.Ended != nil && v.Ended.Unmeasured:
		return "The trial ended before anything was measured."
	case v.ChangeFailed != "":
		return failedChange(v, count[analyze.Fail])
	case all == 0:
		return "This trial has no expectations; it only measured."
	case v.Verdict == analyze.Fail && all == 1:
		return "The expectation is not met."
	case v.Verdict == analyze.Fail:
		return fmt.Sprintf("%d of %d expectations %s not met%s.", count[analyze.Fail], all, are(count[analyze.Fail]), rest(count))
	case v.Verdict == analyze.Inconclusive && all == 1:
		return "The data cannot tell yet."
	case v.Verdict == analyze.Inconclusive:
		return fmt.Sprintf("The data cannot tell yet about %d of %d expectations.", count[analyze.Inconclusive], all)
	case all == 1:
		return "The expectation is met."
	default:
		return fmt.Sprintf("All %d expectations are met.", all)
	}
}

// failedChange says that the change failed, and what of the expectations was measured until then.
func failedChange(v result.Verdict, unmet int) string {
	text := strings.ToUpper(v.ChangeFailed[:1]) + strings.TrimSuffix(v.ChangeFailed[1:], ".") + "."
	if unmet > 0 {
		text += fmt.Sprintf(" Until then, %d of %d expectations were not met.", unmet, len(v.Claims))
	}
	return text
}

// partly says of what ended before its time why there is only a part of it; "" of what did not.
func partly(v result.Verdict) string {
	switch {
	case v.Ended != nil && v.Ended.How == result.Goes:
		return ""
	case !v.Partial, v.Ended != nil && v.Ended.Unmeasured: // of the latter the reasons say that nothing was measured
		return ""
	case v.Ended != nil && v.Ended.How == result.Interrupted:
		return "Partial: interrupted; the measurements until then are shown."
	}
	return "Partial: the trial ended early; the measurements until then are shown."
}

// fewReasons is how many reasons may say again what the claims below them say.
const fewReasons = 2

// reasons are why a trial did not pass, and what to do where it was not measured well; of one that did, meaning says it all. Many that
// are claims over again are left to the claims.
func reasons(v result.Verdict) []string {
	if v.Verdict == analyze.Pass {
		return nil
	}
	var hints []string
	for _, advice := range v.Advice {
		hints = append(hints, "hint: "+advice)
	}
	return append(whys(v), hints...)
}

func whys(v result.Verdict) []string {
	all := slices.Clone(v.Reasons)
	if v.ReasonsOfClaims > fewReasons && v.ReasonsOfClaims <= len(all) {
		all = all[:len(all)-v.ReasonsOfClaims]
	}
	return slices.DeleteFunc(all, func(reason string) bool { return v.ChangeFailed != "" && reason == v.ChangeFailed }) // meaning says it
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func rest(count map[analyze.Answer]int) string {
	if n := count[analyze.Inconclusive]; n > 0 {
		return fmt.Sprintf("; for %d more, the data cannot tell yet", n)
	}
	return ""
}

// claim is a finding ready to be shown.
type claim struct {
	analyze.JudgedClaim
	Sentence string
	Bar      template.HTML
}

// notJudged stands in place of a verdict where a trial could not run: nobody has asked the expectation.
const notJudged analyze.Answer = "NOT JUDGED"

// shownClaims are the findings as a page shows them.
func shownClaims(v result.Verdict) []analyze.JudgedClaim {
	v.Claims = slices.Clone(v.Claims)
	v.MarkNotJudged()
	for i := range v.Claims {
		if f := &v.Claims[i]; f.NotJudged {
			f.Verdict, f.Needs = notJudged, ""
		}
	}
	return v.Claims
}

func claims(v result.Verdict) []claim {
	all := make([]claim, len(v.Claims))
	for i, f := range shownClaims(v) {
		all[i] = claim{JudgedClaim: f, Sentence: sentence(f), Bar: bar(f)}
	}
	return all
}

// sentence says what was found, and where the interval lies against the margin.
func sentence(f analyze.JudgedClaim) string {
	unit := quantity.Unit(f.Unit)
	value, margin := unit.Format(f.Estimate), unit.Tick(f.Margin)
	switch {
	case f.Verdict == notJudged:
		return "Not judged: the trial could not run."
	case !judged(f):
		return "There is no estimate: too little was measured."
	case math.IsInf(f.Low, 0) || math.IsInf(f.High, 0):
		return fmt.Sprintf("Measured %s, too briefly to say how sure that is; the margin is %s.", value, margin)
	case f.Of != "":
		return untilAsBefore(f)
	case exact(f) && f.Op == "==" && f.Estimate == f.Margin:
		return fmt.Sprintf("Found %s, as expected.", value)
	case exact(f):
		return fmt.Sprintf("Found %s; expected was %s %s.", value, words(f.Op), margin)
	}
	s := fmt.Sprintf("Measured %s, with %s confidence between %s and %s: ",
		value, quantity.Share.Format(f.Confidence), unit.Format(f.Low), unit.Format(f.High))
	switch {
	case f.Low > f.Margin:
		return s + "wholly above the margin of " + margin + "."
	case f.High < f.Margin:
		return s + "wholly below the margin of " + margin + "."
	default:
		return s + "the margin of " + margin + " lies inside."
	}
}

// untilAsBefore says of a time what was as before after it, or was not.
func untilAsBefore(f analyze.JudgedClaim) string {
	took := quantity.Duration(time.Duration(f.Estimate * float64(time.Millisecond)).Round(time.Millisecond))
	s := "Throughput, response times and errors were all as before after at most " + took
	switch {
	case f.Of == analyze.OfWrites:
		s = strings.TrimSuffix(withoutWrites(time.Duration(f.Estimate*float64(time.Millisecond))), ".")
	case f.Estimate == 0 && !f.AtLeast:
		s = "Throughput, response times and errors stayed as before"
	case f.AtLeast:
		s = "Throughput, response times or errors were not as before within " + took
	}
	return fmt.Sprintf("%s; expected was %s %s.", s, words(f.Op), quantity.Unit(f.Unit).Tick(f.Margin))
}

// judged tells findings that have an estimate from those of which nothing was measured.
func judged(f analyze.JudgedClaim) bool { return result.Judged(f) }

func exact(f analyze.JudgedClaim) bool { return f.Low == f.Estimate && f.High == f.Estimate }

// words says an operator.
func words(op string) string {
	said := map[string]string{"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", "==": "exactly", "!=": "other than"}[op]
	return cmp.Or(said, op)
}

// passes tells whether a value on one side of the margin is what the claim asks for.
func passes(f analyze.JudgedClaim, above bool) bool {
	return above && (f.Op == ">" || f.Op == ">=") || !above && (f.Op == "<" || f.Op == "<=")
}
