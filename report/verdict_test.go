package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/result"

	"plimsoll/analyze"
)

func TestSentence(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		f    analyze.JudgedClaim
		want string
	}{
		{analyze.JudgedClaim{Estimate: 0.93, Low: 0.92, High: 0.94, Confidence: 0.998, Margin: 0.9, Op: ">", Unit: "ratio"},
			"Measured 0.930, with 99.8 % confidence between 0.920 and 0.940: wholly above the margin of 0.9."},
		{analyze.JudgedClaim{Estimate: 12, Low: 11, High: 13, Confidence: 0.99, Margin: 20, Op: "<", Unit: "ms"},
			"Measured 12.0 ms, with 99 % confidence between 11.0 ms and 13.0 ms: wholly below the margin of 20 ms."},
		{analyze.JudgedClaim{Estimate: 19, Low: 17, High: 22, Confidence: 0.99, Margin: 20, Op: "<", Unit: "ms"},
			"Measured 19.0 ms, with 99 % confidence between 17.0 ms and 22.0 ms: the margin of 20 ms lies inside."},
		{analyze.JudgedClaim{Estimate: 0, Confidence: 1, Margin: 0, Op: "==", Unit: "count"}, "Found 0, as expected."},
		{analyze.JudgedClaim{Estimate: 3, Low: 3, High: 3, Confidence: 1, Margin: 0, Op: "==", Unit: "count"}, "Found 3; expected was exactly 0."},
		{analyze.JudgedClaim{Estimate: math.NaN(), Low: -inf, High: inf, Confidence: 1, Margin: 1}, "There is no estimate: too little was measured."},
		{analyze.JudgedClaim{Estimate: 18412, Low: 18412, High: 18412, Confidence: 1, Margin: 20000, Op: "<", Unit: "ms", Of: analyze.OfWrites},
			"The longest time from one acknowledged write to the next was 18 s; expected was less than 20 s."},
		{analyze.JudgedClaim{Confidence: 1, Margin: 20000, Op: "<", Unit: "ms", Of: analyze.OfService},
			"Throughput, response times and errors stayed as before; expected was less than 20 s."},
		{analyze.JudgedClaim{Estimate: 5, Low: -inf, High: inf, Confidence: 0.99, Margin: 4, Unit: "ms"},
			"Measured 5.00 ms, too briefly to say how sure that is; the margin is 4 ms."},
	} {
		if got := strings.ReplaceAll(sentence(c.f), "\u202f", " "); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestMeaning(t *testing.T) {
	claims := func(answers ...analyze.Answer) (out []analyze.JudgedClaim) {
		for _, a := range answers {
			out = append(out, analyze.JudgedClaim{Verdict: a})
		}
		return out
	}
	p, f, i := analyze.Pass, analyze.Fail, analyze.Inconclusive
	for _, c := range []struct {
		v    result.Verdict
		want string
	}{
		{result.Verdict{Verdict: p, Claims: claims(p)}, "The expectation is met."},
		{result.Verdict{Verdict: p, Claims: claims(p, p)}, "All 2 expectations are met."},
		{result.Verdict{Verdict: p}, "This trial has no expectations; it only measured."},
		{result.Verdict{Verdict: f, Claims: claims(f)}, "The expectation is not met."},
		{result.Verdict{Verdict: f, Claims: claims(f, p, i)}, "1 of 3 expectations is not met; for 1 more, the data cannot tell yet."},
		{result.Verdict{Verdict: f, Claims: claims(f, f, p)}, "2 of 3 expectations are not met."},
		{result.Verdict{Verdict: i, Claims: claims(i, p)}, "The data cannot tell yet about 1 of 2 expectations."},
		{result.Verdict{Verdict: analyze.Invalid, Claims: claims(p)}, "The measurement is not valid, so its numbers do not answer the question."},
		{result.Verdict{Verdict: f, ChangeFailed: "the run of own/change failed at step add: no such table", Claims: claims(i, p)},
			"The run of own/change failed at step add: no such table."},
		{result.Verdict{Verdict: f, OneRound: true, ChangeFailed: "the run of own/change failed at step add: no such table", Claims: claims(f, p)},
			"The run of own/change failed at step add: no such table. Until then, 1 of 2 expectations were not met."},
		{result.Verdict{Verdict: f, OneRound: true, Claims: claims(f)}, "Judged by one round: whether rounds agree was not seen. The expectation is not met."},
		{result.Verdict{Verdict: f, FactOfOneRound: true, Claims: claims(f, i)},
			"One round decided, since what failed is known exactly; whether rounds agree was not seen. 1 of 2 expectations is not met; for 1 more, the data cannot tell yet."},
		{result.Verdict{Partial: true}, "The trial was interrupted before it was judged, or is still running."},
	} {
		if got := meaning(c.v); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestBarHoldsWhatItDraws(t *testing.T) {
	inf := math.Inf(1)
	for _, f := range []analyze.JudgedClaim{
		{Estimate: 0.93, Low: 0.92, High: 0.94, Confidence: 0.99, Margin: 0.9, Op: ">", Unit: "ratio"},
		{Estimate: 0, Confidence: 1, Op: "=="},
		{Estimate: 5, Low: -inf, High: inf, Confidence: 0.99, Margin: 4, Op: "<", Unit: "ratio"},
		{Estimate: 5, Low: -2, High: 12, Confidence: 0.99, Margin: 4000, Op: "<"},
		{Estimate: -3, Low: -4, High: -2, Confidence: 0.99, Margin: 0, Op: "<"},
	} {
		at := barScale(f)
		for _, v := range []float64{f.Estimate, f.Low, f.High, f.Margin} {
			if x := at(v); math.IsNaN(x) || x < 0 || x > barWidth {
				t.Errorf("%+v: %v stands at %v", f, v, x)
			}
		}
		if svg := string(bar(f)); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf\"") {
			t.Errorf("%+v: %s", f, svg)
		}
	}
	if bar(analyze.JudgedClaim{Estimate: math.NaN(), Confidence: 1}) != "" {
		t.Error("a bar of no estimate")
	}
}

// Of a trial that could not run no expectation is undecided: none was asked.
func TestAnExpectationThatWasNotAskedIsNotInconclusive(t *testing.T) {
	unknown := analyze.JudgedClaim{Expect: "errors == 0", Verdict: analyze.Inconclusive, Estimate: math.NaN(), Confidence: 1, Needs: "operations to measure: there were none"}
	v := result.Verdict{Verdict: analyze.CouldNotRun, Claims: []analyze.JudgedClaim{unknown}}
	if got := claims(v)[0]; got.Verdict != notJudged || got.Needs != "" || got.Sentence != "Not judged: the trial could not run." {
		t.Errorf("%+v", got)
	}
	v.Verdict = analyze.Inconclusive
	if got := claims(v)[0]; got.Verdict != analyze.Inconclusive || got.Needs == "" {
		t.Errorf("one that ran: %+v", got)
	}
}

func TestManyReasonsThatAreClaimsAreLeftToThem(t *testing.T) {
	v := result.Verdict{Verdict: analyze.Invalid, Reasons: []string{"the generator was late"}}
	for _, expect := range []string{"throughput > 1", "throughput > 2", "errors == 0"} {
		v.Claims = append(v.Claims, analyze.JudgedClaim{Expect: expect})
		v.Reasons = append(v.Reasons, "not met: "+expect)
		v.ReasonsOfClaims++
		want := len(v.Reasons)
		if len(v.Claims) > fewReasons {
			want = 1
		}
		if got := reasons(v); len(got) != want || got[0] != "the generator was late" {
			t.Errorf("of %d claims: %q", len(v.Claims), got)
		}
	}
}

// The sentence under the verdict says how a change failed: the reasons do not say it again.
func TestHowAChangeFailedIsSaidOnce(t *testing.T) {
	const how = "the run of own/change failed at step add: no such table"
	if got := reasons(result.Verdict{Verdict: analyze.Fail, ChangeFailed: how, Reasons: []string{how, "index: already done"}}); !slices.Equal(got, []string{"index: already done"}) {
		t.Errorf("%q", got)
	}
}

func TestAnInvalidTrialSaysWhatToDo(t *testing.T) {
	v := result.Verdict{Verdict: analyze.Invalid, Reasons: []string{"the generator was late"}, Advice: []string{"give it its turn"}}
	if got := reasons(v); len(got) != 2 || got[1] != "hint: give it its turn" {
		t.Errorf("%q", got)
	}
}
