package trial

import (
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

// A service that was not back within the data refutes a shorter recovery time, and leaves a longer one open.
func TestARecoveryThatWasNotSeen(t *testing.T) {
	tr := parse(t, `
trial: outage
cluster: {engine: mariadb}
load: {workload: oltp, connections: 4}
timeline:
  - baseline: 10s
  - run: lab/freeze
    with: {node: n1}
expect:
  - recovery_time < 5s
  - recovery_time < 60s
`, Options{})
	var r recording
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fill := func(phase string, change bool, rate int64) {
		s := r.begin(stretch{round: 1, phase: phase, from: at, change: change})
		for range 10 {
			s.all = append(s.all, analyze.Second{Start: at, Length: time.Second, Tally: series.Tally{Scheduled: rate, Done: rate}})
			at = at.Add(time.Second)
		}
	}
	fill("baseline", false, 1000)
	fill("lab/freeze", true, 0)
	findings := analyze.Judge(tr.claims(&r), tr.options())
	if len(findings) != 2 || findings[0].Verdict != analyze.Fail || findings[1].Verdict != analyze.Inconclusive {
		t.Errorf("%+v", findings)
	}
}
