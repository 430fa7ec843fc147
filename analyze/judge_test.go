package analyze

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

// versus asks whether the throughput of b is at least a share of that of a.
func versus(b, a Quantity, share float64) Claim {
	return Claim{
		Text: "b holds", Quantities: []Quantity{b, a}, Estimate: func(v []float64) float64 { return v[0] / v[1] },
		Ratio: true, Op: ">=", Margin: share,
	}
}

// cell is a quantity of rounds around a level.
func cell(seed uint64, rounds int, level float64) Quantity {
	rng := newRand()
	for range seed {
		rng.Uint64()
	}
	var values [][]float64
	for range rounds {
		values = append(values, noisy(rng, 60, level, 0.05, 0.5))
	}
	return throughputOf(epoch.Add(time.Duration(seed)*time.Minute), values...)
}

func TestJudgeByTheInterval(t *testing.T) {
	a, b := cell(1, 5, 1000), cell(2, 5, 900)
	for share, want := range map[float64]Answer{0.8: Pass, 0.9: Inconclusive, 1: Fail} {
		f := Judge([]Claim{versus(b, a, share)}, Options{Seed: 1})[0]
		if f.Verdict != want || !near(f.Estimate, 0.9, 0.02) || !near(f.Confidence, 0.99, 1e-9) {
			t.Errorf("b >= %v a: %+v, want %s", share, f, want)
		}
		if inside := f.Low >= share; inside != (want == Pass) {
			t.Errorf("the interval %v to %v does not say %s of %v", f.Low, f.High, want, share)
		}
		if (f.Needs != "") != (want == Inconclusive) {
			t.Errorf("%s needs %q", f.Verdict, f.Needs)
		}
	}
}

// Of three claims of which two are plain and one is open, the plain ones are asked at a third of the level, the open one at
// all of it in the end. An exact claim does not count.
func TestJudgeSharesTheLevelAsHolmDoes(t *testing.T) {
	a := cell(1, 5, 1000)
	zero := 0.0
	exact := Claim{Text: "lost", Quantities: []Quantity{{Exact: &zero}}, Estimate: func(v []float64) float64 { return v[0] }, Op: "==", Margin: 0}
	f := Judge([]Claim{versus(cell(2, 5, 1000), a, 0.5), exact, versus(cell(3, 5, 1000), a, 1), versus(cell(4, 5, 1000), a, 2)}, Options{})
	for i, want := range []struct {
		verdict    Answer
		confidence float64
	}{{Pass, 1 - 0.01/3}, {Pass, 1}, {Inconclusive, 0.99}, {Fail, 1 - 0.01/3}} {
		if f[i].Verdict != want.verdict || !near(f[i].Confidence, want.confidence, 1e-9) {
			t.Errorf("claim %d: %s at %v, want %s at %v", i, f[i].Verdict, f[i].Confidence, want.verdict, want.confidence)
		}
	}
}

func TestRoundsThatOneCellMissesAreLeftOut(t *testing.T) {
	a, b := cell(1, 5, 1000), cell(2, 5, 900)
	whole := RatioOf(b, a, Options{})
	b.Rounds[3] = nil
	a.Rounds = append(a.Rounds, counted(epoch, 1, 1, 1)) // a sixth round, interrupted
	got := RatioOf(b, a, Options{})
	if !near(got.Value, whole.Value, 0.02) || got.Value == whole.Value || math.IsInf(got.High, 0) {
		t.Errorf("%+v, with all rounds %+v", got, whole)
	}
}

// A share of one round that is ten times slower makes the pooled p99 what it is; the interval must know.
func TestOneOddRoundWidensTheInterval(t *testing.T) {
	a, b := cell(1, 5, 1000), cell(2, 5, 1000)
	calm := RatioOf(b, a, Options{})
	b.Rounds[2] = counted(b.Rounds[2][0].Start, noisy(newRand(), 60, 500, 0.05, 0)...)
	odd := RatioOf(b, a, Options{})
	if odd.High-odd.Low < 5*(calm.High-calm.Low) {
		t.Errorf("with an odd round %v to %v, without %v to %v", odd.Low, odd.High, calm.Low, calm.High)
	}
}

func TestNeeds(t *testing.T) {
	a := cell(1, 3, 1000)
	for _, c := range []struct {
		name  string
		claim Claim
		want  string
	}{
		{"some rounds", versus(cell(2, 3, 1000), a, 0.985), "more round"},
		{"too close", versus(cell(2, 3, 1000), a, Value(Throughput(), flatten(cell(2, 3, 1000)))/Value(Throughput(), flatten(a))), "the effect is at the margin"},
		{"one round", versus(cell(2, 1, 1000), cell(1, 1, 1000), 0.995), "more"},
		{"nothing measured", versus(Quantity{Name: "p99 of b", Statistic: Percentile(0.99, Response), Rounds: cell(2, 1, 1).Rounds}, cell(1, 1, 1000), 1), "there were none for p99 of b"},
	} {
		f := Judge([]Claim{c.claim}, Options{})[0]
		if f.Verdict != Inconclusive || !strings.Contains(f.Needs, c.want) {
			t.Errorf("%s: %s, needs %q, want …%s…", c.name, f.Verdict, f.Needs, c.want)
		}
	}
}

func flatten(q Quantity) (all []Second) {
	for _, r := range q.Rounds {
		all = append(all, r...)
	}
	return all
}

// What is said to be needed is enough: a trial with so many more rounds of the same kind decides.
func TestNeededRoundsAreEnough(t *testing.T) {
	claim := versus(cell(2, 3, 1000), cell(1, 3, 1000), 0.985)
	_, more := foreseen(Judge([]Claim{claim}, Options{})[0].Needs)
	if more == 0 {
		t.Fatalf("needs %q", Judge([]Claim{claim}, Options{})[0].Needs)
	}
	if f := Judge([]Claim{versus(cell(2, 3+2*more, 1000), cell(1, 3+2*more, 1000), 0.985)}, Options{})[0]; f.Verdict != Pass {
		t.Errorf("with twice the %d rounds that were asked for: %+v", more, f)
	}
}

func TestInWords(t *testing.T) {
	for seconds, want := range map[float64]string{3: "10 seconds", 61: "70 seconds", 91: "2 minutes", 720: "12 minutes", 7300: "3 hours"} {
		if got := inWords(seconds); got != want {
			t.Errorf("%v s: %s, want %s", seconds, got, want)
		}
	}
}

func TestOverall(t *testing.T) {
	of := func(answers ...Answer) (findings []JudgedClaim) {
		for _, a := range answers {
			findings = append(findings, JudgedClaim{Verdict: a})
		}
		return findings
	}
	for _, c := range []struct {
		findings []JudgedClaim
		invalid  []string
		want     Answer
	}{
		{nil, nil, Pass},
		{of(Pass, Pass), nil, Pass},
		{of(Pass, Inconclusive), nil, Inconclusive},
		{of(Fail, Inconclusive), nil, Fail},
		{of(Inconclusive, Fail), nil, Fail},
		{of(Fail), []string{"the loader was late"}, Invalid},
	} {
		if got := Overall(c.findings, c.invalid); got != c.want {
			t.Errorf("%+v, %v: %s, want %s", c.findings, c.invalid, got, c.want)
		}
	}
}

func TestWhatIsNotKnownIsNullInJSON(t *testing.T) {
	for _, f := range []JudgedClaim{
		{Expect: "a", Verdict: Pass, Estimate: 1, Low: 0.5, High: 2, Confidence: 0.99, Margin: 3, Op: "<", Unit: "ms"},
		{Expect: "b", Verdict: Inconclusive, Estimate: 1, Low: 0, High: math.Inf(1), Confidence: 0.99, Needs: "more"},
	} {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var back JudgedClaim
		if err := json.Unmarshal(text, &back); err != nil || back != f {
			t.Errorf("%s read back as %+v, %v", text, back, err)
		}
	}
	unknown, err := json.Marshal(Estimate{Value: math.NaN(), Low: math.Inf(-1), High: math.Inf(1), Confidence: 0.99})
	if want := `{"value":null,"low":null,"high":null,"confidence":0.99,"effective":0}`; err != nil || string(unknown) != want {
		t.Errorf("%s, %v", unknown, err)
	}
	if text, err := json.Marshal(Estimate{Effective: math.NaN()}); err != nil || !strings.Contains(string(text), `"effective":null`) { // of a phase in which nothing ended
		t.Errorf("%s, %v", text, err)
	}
	var back Estimate
	if err := json.Unmarshal(unknown, &back); err != nil || !math.IsNaN(back.Value) || !math.IsInf(back.Low, -1) || !math.IsInf(back.High, 1) {
		t.Errorf("%+v, %v", back, err)
	}
}
