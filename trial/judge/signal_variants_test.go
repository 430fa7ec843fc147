package judge

import (
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/expect"
	"plimsoll/trial/spec"
)

// Each signal's mean is held against the control's, by variant, on the rounds that both have; what differs by chance is not said to
// differ, and what was read in the warm-up counts for nothing. A rate is judged as the throughput of the same operations is: by its
// ratio, though rounds differ by as much as the two do.
func TestSignalsAreHeldAgainstTheControls(t *testing.T) {
	tr := &spec.Trial{Spec: spec.Spec{Compare: spec.Compare{Variants: []spec.Variant{{Name: "off"}, {Name: "on"}}}}}
	tr.Phases.Rounds, tr.Confidence, tr.Seed = 3, 0.99, 1
	for i, name := range []string{"off", "on"} {
		c := &spec.Cell{}
		c.Name, c.Variant, c.Control = name, name, i == 0
		tr.Cells = append(tr.Cells, c)
	}
	r, at := &Recording{}, time.Unix(1000, 0)
	var points []series.Point
	done := map[string][][]analyze.Second{"off": make([][]analyze.Second, 3), "on": make([][]analyze.Second, 3)}
	for round := 1; round <= 3; round++ {
		for _, name := range []string{"off", "on"} {
			for _, phase := range []string{expect.Warmup, "measure"} {
				s := r.Begin(PhaseRecord{Cell: name, Round: round, Phase: phase, From: at})
				for i := range 20 {
					level := map[string]float64{"off": 0, "on": 0.2}[name] + 0.01*float64(i%3)
					if phase == expect.Warmup {
						level = 9
					}
					points = append(points,
						series.Point{Time: at, Signal: "mysql.pool_miss_share", Node: "n1", Value: level},
						series.Point{Time: at, Signal: "mysql.threads", Node: "n1", Value: float64(i % 5)},
						series.Point{Time: at, Signal: "mysql.still", Node: "n1", Value: 4})
					commits := int64(map[string]float64{"off": 341, "on": 1003}[name]*[]float64{0.3, 1, 1.7}[round-1]) + int64(i%3)
					if phase != expect.Warmup {
						points = append(points, series.Point{Time: at, Signal: "mysql.commits_per_second", Node: "n1", Value: float64(commits)})
						done[name][round-1] = append(done[name][round-1], analyze.Second{Start: at, Length: Second, Tally: series.Tally{Scheduled: commits, Done: commits}})
					}
					at = at.Add(Second)
				}
				s.To = at.Add(-time.Millisecond)
			}
		}
	}
	got := map[string]result.SignalDifference{}
	for _, d := range VariantSignals(tr, r, points) {
		got[d.Signal] = d
	}
	miss, threads := got["mysql.pool_miss_share"], got["mysql.threads"]
	if !miss.Differs || miss.Variant != "on" || miss.Control != "off" || miss.Unit != "share" || miss.Difference.Verdict != analyze.Pass || abs(miss.Difference.Estimate-0.2) > 1e-6 {
		t.Errorf("%+v", miss)
	}
	if _, shown := got["mysql.still"]; threads.Differs || shown || len(got) != 3 {
		t.Errorf("%+v", got)
	}
	throughput := func(variant string) analyze.Quantity {
		return analyze.Quantity{Rounds: done[variant], Statistic: analyze.Throughput()}
	}
	compared, commits := analyze.RatioOf(throughput("on"), throughput("off"), tr.Options()), got["mysql.commits_per_second"]
	if !(compared.Low > 1) || !commits.Differs || commits.Difference.Unit != "ratio" || abs(commits.Difference.Estimate-compared.Value) > 1e-9 {
		t.Errorf("throughput %+v, commits %+v", compared, commits)
	}
}

func abs(v float64) float64 { return max(v, -v) }
