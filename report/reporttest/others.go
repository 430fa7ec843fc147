package reporttest

import (
	"math"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/series"
)

// Interrupted is a comparison that a person stopped in its second round and whose load generator was starved: INVALID,
// with cells of which nothing was measured.
func Interrupted() *result.Result {
	r := Comparison()
	r.Dir = "results/2026-05-04-binlog-cost-2"
	v := &r.Verdict
	v.Partial, v.Verdict = true, analyze.Invalid
	v.Reasons = []string{"the load generator was starved: its own start lag reached 41 ms at p99 where the response time's median is 5 ms (binlog off, connections=128, round 1)"}
	v.Notes = append(v.Notes, "interrupted in round 2 of 3; what was measured until then was kept")
	for i := range v.Claims {
		v.Claims[i].Verdict, v.Claims[i].Estimate, v.Claims[i].Low, v.Claims[i].High = analyze.Inconclusive, math.NaN(), math.Inf(-1), math.Inf(1)
		v.Claims[i].Needs = "at least one whole round of both cells"
	}
	end := r.Environment.Started.Add(38 * time.Minute)
	r.Environment.Ended = end
	r.Seconds = before(r.Seconds, func(row result.Row) bool { return row.Time.Before(end) })
	r.Signals = before(r.Signals, func(p series.Point) bool { return p.Time.Before(end) })
	r.Events = before(r.Events, func(e series.Event) bool { return e.Time.Before(end) })
	v.Phases = before(v.Phases, func(p result.Phase) bool { return p.To.Before(end) })
	for i := range v.Cells {
		v.Cells[i].Rounds = 1
		if i%5 == 4 {
			v.Cells[i].Rounds, v.Cells[i].Figures, v.Cells[i].Tally = 0, nil, series.Tally{}
		}
	}
	return r
}

// Measured is a trial of one cell that expects nothing and disturbs nothing: how fast is it?
func Measured() *result.Result {
	r := Timeline()
	r.Dir = "results/2026-05-04-how-fast"
	v := &r.Verdict
	v.Verdict, v.Trial, v.Question = analyze.Pass, "how-fast", "How fast is it?"
	v.Reasons, v.Claims = nil, nil
	v.Phases = v.Phases[:2]
	v.Phases[1].Name = "measure"
	end := v.Phases[1].To
	r.Environment.Ended = end
	r.Seconds = before(r.Seconds, func(row result.Row) bool { return row.Time.Before(end) })
	r.Signals = before(r.Signals, func(p series.Point) bool { return p.Time.Before(end) })
	r.Events = before(r.Events, func(e series.Event) bool { return e.Time.Before(end) })
	for i := range r.Seconds {
		if r.Seconds[i].Phase == "baseline" {
			r.Seconds[i].Phase = "measure"
		}
	}
	for i := range r.Events {
		if r.Events[i].Name == "baseline" {
			r.Events[i].Name = "measure"
		}
	}
	c := &v.Cells[0]
	c.Writes, c.Tally = nil, series.Tally{Scheduled: 60_000, Done: 60_000}
	c.Figures = []result.Figure{
		{Metric: "throughput", Unit: "per_second", Estimate: estimate(1000, 0.012)},
		{Metric: "response_p50", Unit: "ms", Estimate: estimate(2.94, 0.02)},
		{Metric: "response_p99", Unit: "ms", Estimate: estimate(9.1, 0.06)},
	}
	return r
}

// Settings is a comparison without a numeric factor, which passed: three levels of durability.
func Settings() *result.Result {
	r := &result.Result{Dir: "results/2026-05-04-commit-path"}
	r.Environment = environment(started, started.Add(16*time.Minute))
	r.Verdict = result.Verdict{
		Verdict: analyze.Pass, Trial: "commit-path", Question: "What would giving up the flush at commit be worth?",
		Claims: []analyze.JudgedClaim{{
			Expect: `throughput["flush=0, no binlog"] > 1.3 * throughput["flush=1, binlog row"]`, Verdict: analyze.Pass,
			Estimate: 1.3812, Low: 1.3391, High: 1.4247, Confidence: 0.99, Margin: 1.3, Op: ">", Unit: "ratio",
		}},
	}
	names, rates := []string{"flush=1, binlog row", "flush=1, no binlog", "flush=0, no binlog"}, []float64{1013, 1174, 1399}
	at := started
	for v, name := range names {
		c := result.Cell{Name: name, Variant: name, Control: v == 0, Rounds: 5, Tally: series.Tally{Scheduled: int64(rates[v] * 300), Done: int64(rates[v] * 300)}}
		add := func(metric, unit string, value, base float64) {
			f := result.Figure{Metric: metric, Unit: unit, Estimate: estimate(value, 0.021)}
			if v > 0 {
				ratio := estimate(value/base, 0.031)
				f.Ratio = &ratio
			}
			c.Figures = append(c.Figures, f)
		}
		add("throughput", "per_second", rates[v], rates[0])
		for metric, tail := range quantiles(3.4) {
			add("response_"+metric, "ms", 32/rates[v]*1000*tail, 32/rates[0]*1000*tail)
		}
		r.Verdict.Cells = append(r.Verdict.Cells, c)
		for round := 1; round <= 5; round++ {
			wander := newNoise(uint64(round*10+v), 0.02)
			from := at
			for range 60 {
				s := second{at: at, cell: name, round: round, phase: "measure", rate: rates[v] * (1 + wander.next()), response: 32 / rates[v] * 1000, tail: 3.4}
				s.service = s.response
				r.Seconds = append(r.Seconds, s.rows(nil)...)
				at = at.Add(time.Second)
			}
			r.Verdict.Phases = append(r.Verdict.Phases, result.Phase{Name: "measure", Cell: name, Round: round, From: from, To: at})
		}
	}
	return r
}

func before[T any](all []T, keep func(T) bool) []T {
	var kept []T
	for _, v := range all {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// CutOff is what a trial leaves behind whose process was killed: no verdict, no phases, the last second incomplete.
func CutOff() *result.Result {
	r := Timeline()
	r.Dir = "results/2026-05-04-restart-felt-2"
	r.Verdict = result.Verdict{Partial: true}
	r.Environment.Ended = time.Time{}
	end := r.Seconds[0].Time.Add(130 * time.Second)
	r.Seconds = before(r.Seconds, func(row result.Row) bool { return row.Time.Before(end) })
	r.Signals = before(r.Signals, func(p series.Point) bool { return p.Time.Before(end) })
	r.Events = before(r.Events, func(e series.Event) bool { return e.Time.Before(end) })
	return r
}

// Recorded is what a watch exported of two instances, of which a setting was changed.
func Recorded() *result.Result {
	started := time.Date(2026, 5, 4, 14, 0, 0, 0, time.UTC)
	r := &result.Result{
		Dir: "results/watched-orders/2026-05-04T14-00-00", Source: "# Recorded by a watch; written by plimsoll watch export. No load was issued.\ntrial: watched-orders\n",
		Environment: result.Environment{Plimsoll: "1.0.0", Started: started, Ended: started.Add(2 * time.Minute), Engine: map[string]string{"engine": "mysql"}, Command: []string{"plimsoll", "watch", "export", "orders", "--from", "14:00", "--to", "14:02"}},
		Verdict: result.Verdict{
			Verdict: analyze.Inconclusive, Reasons: []string{"recorded by a watch, without a question"}, Claims: []analyze.JudgedClaim{}, Trial: "watched orders", Question: "What did it do?",
			Watched: &result.Watched{Cluster: "orders", Instances: []string{"n1", "n2"}},
		},
		Events: []series.Event{{Time: started.Add(70 * time.Second), Kind: series.FleetChange, Name: "orders/n1", Detail: map[string]any{"kind": "setting", "what": "sync_binlog", "from": "0", "to": "1"}}},
	}
	for n, node := range []string{"n1", "n2"} {
		mean := 1000.0 / float64(1+n)
		cell := result.Cell{Name: node, Rounds: 1, Figures: []result.Figure{{Metric: "throughput", Unit: "per_second", Estimate: analyze.Estimate{Value: mean, Low: mean * 0.98, High: mean * 1.02, Confidence: 0.99}}}}
		for second := range 120 {
			at, done := started.Add(time.Duration(second)*time.Second), int64(mean+40*math.Sin(float64(second)))
			tally := series.Tally{Scheduled: done, Done: done}
			r.Seconds = append(r.Seconds, result.Row{Time: at, Length: time.Second, Cell: node, Round: 1, Phase: "watched", Operation: "all", Tally: tally})
			cell.Tally.Scheduled, cell.Tally.Done = cell.Tally.Scheduled+done, cell.Tally.Done+done
			r.Signals = append(r.Signals, series.Point{Time: at, Signal: "mysql.threads_running", Node: node, Value: float64(2+n) + math.Sin(float64(second)/7)})
		}
		r.Verdict.Cells = append(r.Verdict.Cells, cell)
		r.Verdict.Phases = append(r.Verdict.Phases, result.Phase{Name: "watched", Cell: node, Round: 1, From: started, To: r.Environment.Ended, Figures: cell.Figures})
	}
	return r
}
