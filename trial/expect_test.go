package trial

import (
	"math"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
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
	trial := parse(t, comparing, Options{Set: []string{"seed=1"}})
	var r recording
	for round := 1; round <= 3; round++ {
		for i, c := range trial.cells {
			s := r.begin(phaseRecord{cell: c.Name, round: round, phase: "measure"})
			s.all = seconds(30, []int64{1000, 950, 1000, 500}[i], time.Millisecond, 0)
		}
	}
	findings := analyze.Judge(trial.claims(&r), trial.options())
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
	trial := parse(t, disturbing, Options{Set: []string{"seed=1"}})
	for _, f := range analyze.Judge(trial.claims(&recording{}), trial.options()) {
		if f.Verdict != analyze.Inconclusive {
			t.Errorf("%s without data: %s", f.Expect, f.Verdict)
		}
	}
}
