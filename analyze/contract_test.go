package analyze

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plimsoll/series"
)

// made are seconds of a service with a known rate, median and correlation: the rate is an AR(1) process.
func made(r *rand.Rand, n int, rate, spread, correlation, p50 float64) []Second {
	out := make([]Second, n)
	x := r.NormFloat64()
	for i := range out {
		x = correlation*x + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
		done := int64(max(1, rate*(1+spread*x)))
		h := series.NewHistogram()
		for range min(done, 200) {
			h.Record(time.Duration(p50 * math.Exp(0.3*r.NormFloat64()-0.05*x) * float64(time.Millisecond)))
		}
		out[i] = Second{
			Start: time.Unix(int64(i), 0), Length: time.Second,
			Tally: series.Tally{Scheduled: done, Done: done}, Response: h.Snapshot(), Service: h.Snapshot(),
		}
	}
	return out
}

func compared(op string, margin float64, s Statistic, a, b [][]Second) Claim {
	return Claim{
		Text: "b against a", Ratio: true, Unit: "ratio", Op: op, Margin: margin,
		Quantities: []Quantity{{Name: "b", Rounds: b, Statistic: s}, {Name: "a", Rounds: a, Statistic: s}},
		Estimate:   func(v []float64) float64 { return v[0] / v[1] },
	}
}

func TestVerdictsFollowFromTheInterval(t *testing.T) {
	c := Claim{Op: ">", Margin: 0.9}
	for _, k := range []struct {
		op        string
		low, high float64
		want      Answer
	}{
		{">", 0.95, 1.0, Pass}, {">", 0.85, 0.95, Inconclusive}, {">", 0.8, 0.9, Fail}, {">=", 0.9, 1, Pass},
		{"<", 0.8, 0.89, Pass}, {"<", 0.8, 0.9, Inconclusive}, {"<", 0.9, 1, Fail}, {"<=", 0.8, 0.9, Pass},
		{"==", 0.9, 0.9, Pass}, {"==", 0.8, 1, Inconclusive}, {"==", 1, 2, Fail}, {"!=", 1, 2, Pass}, {"!=", 0.8, 1, Inconclusive},
	} {
		c.Op = k.op
		if got := c.verdict(k.low, k.high); got != k.want {
			t.Errorf("[%v, %v] %s 0.9: %s, want %s", k.low, k.high, k.op, got, k.want)
		}
	}
}

func TestAlikeIsRarelyToldApartAndDifferentIs(t *testing.T) {
	const trials = 40
	wrong, found := 0, 0
	for i := range trials {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		rounds := func(rate float64) [][]Second {
			var out [][]Second
			for range 5 {
				out = append(out, made(r, 40, rate, 0.1, 0.6, 5))
			}
			return out
		}
		a, same, slow := rounds(500), rounds(500), rounds(400)
		f := Judge([]Claim{compared(">=", 1, Throughput(), a, same)}, Options{Seed: 1})[0]
		if f.Verdict == Fail {
			wrong++
		}
		if Judge([]Claim{compared(">=", 1, Throughput(), a, slow)}, Options{Seed: 1})[0].Verdict == Fail {
			found++
		}
	}
	// At 1 % the chance of more than 3 wrong in 40 is below 1 in 1000; see docs/accuracy.md for the rates.
	if wrong > 3 {
		t.Errorf("%d of %d trials of equals FAILed (PCG seed 7)", wrong, trials)
	}
	if found < trials*9/10 {
		t.Errorf("a service 20 %% slower was found in %d of %d trials (PCG seed 7)", found, trials)
	}
}

func TestEffectiveSizeSeesCorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	series := func(correlation float64) []float64 {
		out := make([]float64, 4096)
		x := 0.0
		for i := range out {
			x = correlation*x + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
			out[i] = x
		}
		return out
	}
	for _, correlation := range []float64{0, 0.6, 0.8} {
		want := 4096 * (1 - correlation) / (1 + correlation) // of an AR(1) process
		if got := effectiveSize(series(correlation)); got < want*0.6 || got > want*1.6 {
			t.Errorf("correlation %v: %v, theory %v", correlation, got, want)
		}
	}
}

func TestExactAndMissing(t *testing.T) {
	two := 2.0
	plain := func(v []float64) float64 { return v[0] }
	findings := Judge([]Claim{
		{Text: "lost", Op: "==", Margin: 0, Quantities: []Quantity{{Exact: &two}}, Estimate: plain},
		{Text: "none", Op: ">", Margin: 1, Quantities: []Quantity{{Name: "throughput", Statistic: Throughput()}}, Estimate: plain},
	}, Options{})
	if f := findings[0]; f.Verdict != Fail || f.Estimate != 2 || f.Confidence != 1 {
		t.Errorf("known: %+v", f)
	}
	if f := findings[1]; f.Verdict != Inconclusive || !strings.Contains(f.Needs, "throughput") {
		t.Errorf("without data: %+v", f)
	}
}

func TestPercentilesAreOfTheMergedTimes(t *testing.T) {
	fast, slow := series.NewHistogram(), series.NewHistogram()
	fast.RecordN(time.Millisecond, 990)
	slow.RecordN(100*time.Millisecond, 10)
	seconds := []Second{{Length: time.Second, Response: fast.Snapshot()}, {Length: time.Second, Response: slow.Snapshot()}}
	if got := Value(Percentile(0.5, Response), seconds); math.Abs(got-1) > 0.01 {
		t.Errorf("p50 %v ms, want 1: an average of the seconds' would be 50", got)
	}
	if got := Value(Percentile(0.995, Response), seconds); math.Abs(got-100) > 1 {
		t.Errorf("p99.5 %v ms, want 100", got)
	}
}

func TestSteadySeesADriftAndAPlateau(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	flat := NewSteady(SteadyOptions{Horizon: 30 * time.Second})
	for _, s := range made(r, 60, 500, 0.02, 0.3, 5) {
		flat.Add(s)
	}
	if !flat.Steady() {
		t.Errorf("a plateau is not steady: %s", flat.Why())
	}
	rising := NewSteady(SteadyOptions{Horizon: 30 * time.Second})
	for i := range 30 {
		rising.Add(made(r, 1, 300+20*float64(i), 0.02, 0, 5)[0])
		if rising.Steady() {
			t.Fatalf("steady after %d s of a rise", i+1)
		}
	}
}

func TestImpactIsDated(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	baseline := made(r, 60, 500, 0.03, 0.3, 5)
	during := append(made(r, 10, 500, 0.03, 0.3, 5), made(r, 20, 350, 0.03, 0.3, 5)...)
	during = append(during, made(r, 30, 500, 0.03, 0.3, 5)...)
	for i := range during {
		during[i].Start = time.Unix(int64(100+i), 0)
	}
	got := ImpactOf(baseline, during, Options{Seed: 1})
	if off := got.Onset.Sub(time.Unix(110, 0)); got.Onset.IsZero() || off.Abs() > time.Second {
		t.Errorf("onset %v, want 110 ± 1", got.Onset.Unix())
	}
	if off := got.Recovered.Sub(time.Unix(130, 0)); got.Recovered.IsZero() || off.Abs() > 2*time.Second {
		t.Errorf("recovered %v, want 130 ± 2", got.Recovered.Unix())
	}
	if got.LostOps < 2000 || got.LostOps > 4000 {
		t.Errorf("%v operations lost, about 3000 were", got.LostOps)
	}
}
