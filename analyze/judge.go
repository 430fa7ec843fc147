package analyze

import (
	"math"
)

// Answer is a verdict.
type Answer string

// The verdicts. The last is of a trial that could not be run to its end, for a reason that is no answer to its question.
const (
	Pass         Answer = "PASS"
	Fail         Answer = "FAIL"
	Inconclusive Answer = "INCONCLUSIVE"
	Invalid      Answer = "INVALID"
	CouldNotRun  Answer = "COULD NOT RUN"
)

// Claim is one expectation: Estimate(quantities) Op Margin.
type Claim struct {
	Text       string // as the user wrote it, with the cell it is asked for
	Quantities []Quantity
	Estimate   func(values []float64) float64 // one value per quantity, in order; a ratio or a plain value
	Ratio      bool                           // Estimate is a ratio of positive values: judged on the log scale
	Unit       string                         // of the estimate: ratio, share, ms, per_second, count; "" when it has none
	Op         string                         // < <= > >= == !=
	Margin     float64
	Rounds     int // from which its exact quantities come; estimates have their own
}

// JudgedClaim is a judged claim. Its keys are a promise to other programs.
//
// The verdict follows from the interval shown, by itself: PASS when all of it is inside the margin, FAIL when none of it
// is, else INCONCLUSIVE. What was measured too little to have an estimate or a bound has NaN or an infinity here, and null
// in JSON.
type JudgedClaim struct {
	Expect     string  `json:"expect"`
	Verdict    Answer  `json:"verdict"`
	Estimate   float64 `json:"estimate"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // of this interval by itself: higher than asked for where Holm's correction demands it; 1 when the estimate is known exactly
	Margin     float64 `json:"margin"`
	Needs      string  `json:"needs"`                // for INCONCLUSIVE: how much longer or how many rounds; else empty
	Op         string  `json:"op"`                   // as in Claim
	Unit       string  `json:"unit"`                 // as in Claim
	Of         Subject `json:"of,omitempty"`         // of a time alone until something was as before: what
	AtLeast    bool    `json:"at_least,omitempty"`   // the estimate is what had passed when the data ended
	NotJudged  bool    `json:"not_judged,omitempty"` // the trial could not run, and measured nothing for it: the verdict is INCONCLUSIVE, and reports say NOT JUDGED
}

// Judge answers all claims of a trial together, so that the chance of any wrong PASS or FAIL among them stays below
// 1−Confidence.
//
// That is Holm's procedure (1979), on intervals: with n claims still open each is asked at the level (1−Confidence)/n;
// those whose interval decides them are decided at that level and leave; what remains is asked again with the smaller n,
// until nothing more is decided. Facts are not estimates and do not count.
func Judge(claims []Claim, o Options) []JudgedClaim {
	o = o.withDefaults()
	findings := make([]JudgedClaim, len(claims))
	effects := make([]effect, len(claims))
	var open []int
	for i, c := range claims {
		effects[i] = measure(c.Quantities, c.Estimate, c.Ratio, o)
		findings[i] = c.judged(effects[i])
		if !effects[i].known && !math.IsNaN(effects[i].value) {
			open = append(open, i)
		}
	}
	for decided := true; decided && len(open) > 0; {
		decided = false
		alpha := (1 - o.Confidence) / float64(len(open))
		var rest []int
		for _, i := range open {
			f := &findings[i]
			f.Confidence = 1 - alpha
			f.Low, f.High = effects[i].interval(alpha, 1)
			if f.Verdict = claims[i].verdict(f.Low, f.High); f.Verdict == Inconclusive {
				rest = append(rest, i)
				continue
			}
			decided = true
		}
		open = rest
	}
	for i, c := range claims {
		if f := &findings[i]; o.Agreement && c.single(effects[i]) && (f.Verdict == Pass || f.Verdict == Fail && !effects[i].known) {
			f.Verdict, f.Needs = Inconclusive, anotherRound
		}
	}
	for _, i := range open {
		if o.Agreement && claims[i].single(effects[i]) {
			findings[i].Needs = anotherRound
			continue
		}
		findings[i].Needs = claims[i].needs(effects[i], 1-findings[i].Confidence)
	}
	return findings
}

// single tells a claim that was measured in one round.
func (c Claim) single(e effect) bool {
	if e.known {
		return c.Rounds == 1
	}
	return e.spread.rounds == 1
}

// anotherRound is what a claim needs that was measured in one round, where rounds must agree.
const anotherRound = "more rounds, because a single one does not show whether rounds agree (phases: {rounds: 3}; an explicit rounds: 1 allows a verdict from one)"

// finding is what is known of a claim before it is judged, and all there is to know of one that is exact or has no value.
func (c Claim) judged(e effect) JudgedClaim {
	f := JudgedClaim{
		Expect: c.Text, Verdict: Inconclusive, Estimate: e.value, Low: math.Inf(-1), High: math.Inf(1),
		Confidence: 1, Margin: c.Margin, Op: c.Op, Unit: c.Unit,
	}
	if len(c.Quantities) == 1 {
		f.Of, f.AtLeast = c.Quantities[0].Of, c.Quantities[0].AtLeast
	}
	switch {
	case math.IsNaN(e.value):
		f.Needs = c.missing()
	case e.known:
		f.Low, f.High = e.value, e.value
		f.Verdict = c.verdict(e.value, e.value)
	}
	return f
}

// verdict is Pass if the claim holds everywhere between low and high, Fail if nowhere.
func (c Claim) verdict(low, high float64) Answer {
	var all, none bool
	switch m := c.Margin; c.Op {
	case "<":
		all, none = high < m, low >= m
	case "<=":
		all, none = high <= m, low > m
	case ">":
		all, none = low > m, high <= m
	case ">=":
		all, none = low >= m, high < m
	case "==":
		all, none = low == m && high == m, high < m || low > m
	case "!=":
		all, none = high < m || low > m, low == m && high == m
	}
	switch {
	case all:
		return Pass
	case none:
		return Fail
	}
	return Inconclusive
}

// Overall is the verdict of a trial: INVALID if there is any reason why its numbers mean nothing, else the worst of its
// findings. A trial that expects nothing passes.
func Overall(findings []JudgedClaim, invalid []string) Answer {
	if len(invalid) > 0 {
		return Invalid
	}
	overall := Pass
	for _, f := range findings {
		switch {
		case f.Verdict == Invalid:
			return Invalid
		case f.Verdict == Fail:
			overall = Fail
		case f.Verdict == Inconclusive && overall == Pass:
			overall = Inconclusive
		}
	}
	return overall
}
