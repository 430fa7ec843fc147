package judge

import (
	"slices"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
	"plimsoll/workload"
)

// A service that was not back within the data refutes a shorter recovery time, and leaves a longer one open.
func TestARecoveryThatWasNotSeen(t *testing.T) {
	tr := spectest.Parse(t, `
trial: outage
cluster: {engine: mariadb}
load: {workload: oltp, connections: 4}
phases: {rounds: 1}
timeline:
  - baseline: 10s
  - run: lab/freeze
    with: {node: n1}
expect:
  - recovery_time < 5s
  - recovery_time < 60s
`, spec.Options{})
	var r Recording
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fill := func(phase string, change bool, rate int64) {
		s := r.Begin(PhaseRecord{Round: 1, Phase: phase, From: at, Change: change})
		for range 10 {
			s.All = append(s.All, analyze.Second{Start: at, Length: time.Second, Tally: series.Tally{Scheduled: rate, Done: rate}})
			at = at.Add(time.Second)
		}
	}
	fill("baseline", false, 1000)
	fill("lab/freeze", true, 0)
	findings := analyze.Judge(claims(tr, &r), tr.Options())
	if len(findings) != 2 || findings[0].Verdict != analyze.Fail || findings[1].Verdict != analyze.Inconclusive {
		t.Errorf("%+v", findings)
	}
}

// A ledger tells when writes were taken again; when the service was as before is another question, with a metric of its own.
func TestTheTimeOfAnImpactIsNotTheLedgers(t *testing.T) {
	tr := spectest.Parse(t, `
trial: slow afterwards
cluster: {engine: mariadb}
load: {workload: oltp, connections: 4, ledger: {rate: 20}}
phases: {rounds: 1}
timeline:
  - baseline: 10s
  - run: lab/freeze
    with: {node: n1}
expect:
  - recovery_time < 5s
  - impact_time < 5s
  - impact_time < 60s
`, spec.Options{})
	var r Recording
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &workload.Audit{Begun: at, Acknowledged: 400}
	for _, part := range []struct {
		phase string
		rate  int64
	}{{"baseline", 1000}, {"lab/freeze", 100}} {
		s := r.Begin(PhaseRecord{Round: 1, Phase: part.phase, From: at, To: at.Add(10 * time.Second), Change: part.phase != "baseline"})
		for range 10 {
			s.All = append(s.All, analyze.Second{Start: at, Length: time.Second, Tally: series.Tally{Scheduled: part.rate, Done: part.rate}})
			at = at.Add(time.Second)
		}
	}
	for m := workload.Moment(0); m < 20_000; m += 50 {
		a.Acks.Add(m)
	}
	r.Audits = []Audited{{"", 1, a}}
	var got []analyze.Answer
	for _, f := range analyze.Judge(claims(tr, &r), tr.Options()) {
		got = append(got, f.Verdict)
	}
	if want := []analyze.Answer{analyze.Pass, analyze.Fail, analyze.Inconclusive}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
