package judge

import (
	"math"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

// seconds are made, so that what comes out is known: n of them with a rate and a response time.
func seconds(n int, rate int64, response time.Duration, errors int64) []analyze.Second {
	h := series.NewHistogram()
	h.RecordN(response, rate)
	out := make([]analyze.Second, n)
	for i := range out {
		out[i] = analyze.Second{
			Start: time.Unix(int64(i), 0), Length: time.Second, Response: h.Snapshot(), Service: h.Snapshot(),
			Tally: series.Tally{Scheduled: rate + errors, Done: rate, Errors: errors},
		}
	}
	return out
}

func TestClaimsAreAskedWhereverTheExpectationLeavesItOpen(t *testing.T) {
	trial := spectest.Parse(t, spectest.Comparing, spec.Options{Set: []string{"seed=1"}})
	var r Recording
	for round := 1; round <= 3; round++ {
		for i, c := range trial.Cells {
			s := r.Begin(PhaseRecord{Cell: c.Name, Round: round, Phase: "measure"})
			s.All = seconds(30, []int64{1000, 950, 1000, 500}[i], time.Millisecond, 0)
		}
	}
	findings := analyze.Judge(claims(trial, &r), trial.Options())
	if len(findings) != 2 {
		t.Fatalf("%d findings, want one per number of connections", len(findings))
	}
	if f := findings[0]; f.Verdict != analyze.Pass || math.Abs(f.Estimate-0.95) > 1e-9 || f.Expect != `throughput["binlog row"] > 0.9 * throughput["binlog off"] at connections=4` {
		t.Errorf("got %+v", f)
	}
	if f := findings[1]; f.Verdict != analyze.Fail || math.Abs(f.Estimate-0.5) > 1e-9 {
		t.Errorf("got %+v", f)
	}
}

func TestWhatWasNotMeasuredIsNotJudged(t *testing.T) {
	trial := spectest.Parse(t, spectest.Disturbing, spec.Options{Set: []string{"seed=1"}})
	for _, f := range analyze.Judge(claims(trial, &Recording{}), trial.Options()) {
		if f.Verdict != analyze.Inconclusive {
			t.Errorf("%s without data: %s", f.Expect, f.Verdict)
		}
	}
}
