package run

import (
	"context"
	"sync"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/runbook/execute"
	"plimsoll/trial/expect"
)

// liveMetrics is what the load feels: its last seconds, for the guardrails of a run, and what they were in the baseline.
type liveMetrics struct {
	mu       sync.Mutex
	last     []analyze.Second
	baseline []analyze.Second
}

// recent is how many seconds a reading speaks of.
const recent = 3

func (f *liveMetrics) add(s analyze.Second, phase string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = append(f.last, s)
	f.last = f.last[max(0, len(f.last)-recent):]
	if phase == "baseline" {
		f.baseline = append(f.baseline, s)
	}
}

// readings are the metrics of some seconds under the names that guardrails use: per second, and milliseconds.
func readings(seconds []analyze.Second) map[string]float64 {
	values := map[string]float64{}
	for name, m := range map[string]expect.Metric{
		"throughput": {Name: "throughput"}, "error_share": {Name: "error_share"},
		"p50": {Name: "quantile", Quantile: expect.Quantiles["p50"], Basis: result.Response},
		"p95": {Name: "quantile", Quantile: expect.Quantiles["p95"], Basis: result.Response},
		"p99": {Name: "quantile", Quantile: expect.Quantiles["p99"], Basis: result.Response},
	} {
		if v := analyze.Value(m.Statistic(), seconds); v == v { // NaN: nothing ended
			values[name] = v
		}
	}
	length := time.Duration(0)
	for _, s := range seconds {
		length += s.Length
		values["errors"] += float64(s.Errors)
	}
	if length > 0 {
		values["errors"] /= length.Seconds()
	}
	return values
}

// now are the readings of the last seconds. While nothing ends, whoever waits has waited since then at least.
func (f *liveMetrics) now(at time.Time) map[string]float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.last) == 0 {
		return nil
	}
	values := readings(f.last)
	if _, any := values["p99"]; !any {
		silent := expect.Millis(at.Sub(f.last[0].Start))
		values["p50"], values["p95"], values["p99"] = silent, silent, silent
	}
	return values
}

// meter reads what guardrails of a run in a trial see: the databases' own metrics and the load's.
type meter struct {
	nodes execute.Meter
	load  *liveMetrics // nil: there is no load now
}

var (
	_ execute.Meter     = meter{}
	_ execute.Baselined = meter{}
)

func (m meter) Read(ctx context.Context) (map[string]float64, error) {
	values, err := m.nodes.Read(ctx)
	if m.load == nil {
		return values, err
	}
	load := m.load.now(time.Now())
	if load == nil {
		return values, err
	}
	for name, v := range values {
		load[name] = v
	}
	return load, nil // a database that shows nothing leaves its own metrics out
}

// Baseline are the load's metrics in the trial's baseline.
func (m meter) Baseline() map[string]float64 {
	if m.load == nil {
		return nil
	}
	m.load.mu.Lock()
	defer m.load.mu.Unlock()
	if len(m.load.baseline) == 0 {
		return nil
	}
	return readings(m.load.baseline)
}
