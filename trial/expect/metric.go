package expect

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/series"
)

// Metric is one measured number as an expectation names it, with where it is taken.
type Metric struct {
	Name      string       // throughput, errors, error_share, late, skipped, quantile, mean, max, recovery_time, impact_time, warmth, warm_time, one of LedgerMetrics, or with Signal one of signalStatistics
	Signal    string       // of a statistic of a signal: mysql.threads_running
	Quantile  float64      // of a quantile, 0 to 1
	Basis     result.Basis // of quantile, mean and max
	Operation string       // "" is all operations together

	Variant string            // "" is whichever the claim is asked for
	At      map[string]string // levels of factors; a factor that is not here is whichever the claim is asked for
	Phase   string            // "" is all that was measured
	Node    string            // of warmth and warm_time: a node, primary or replica; "" is the worst of all. Of a signal: a node; "" is each
	Step    string            // of the runbook that made the phase, by its id or key; "" is all of the phase
}

// The names of quantiles, as they are called in expectations and figures.
var Quantiles = map[string]float64{"p50": .5, "p75": .75, "p90": .9, "p95": .95, "p99": .99, "p999": .999}

// Counted tells the metrics that are counted in seconds, not estimated.
func (m Metric) Counted() bool { return m.kind().count != nil }

// ofNode tells the metrics that are measured by node.
func (m Metric) ofNode() bool { return m.kind().byNode }

// Positive tells the metrics that are never zero where there is data, so that a ratio of them makes sense.
func (m Metric) Positive() bool { return m.kind().positive }

// OfLedger tells a metric that there is only with a ledger.
func (m Metric) OfLedger() bool { return m.kind().ledger }

// Unit is the unit of the metric's value.
func (m Metric) Unit() string {
	if m.OfSignal() {
		_, unit := series.SignalUnit(m.Signal)
		return unit
	}
	return m.kind().unit
}

// Statistic computes an estimated metric from seconds; nil of one that is counted or measured elsewhere.
func (m Metric) Statistic() analyze.Statistic {
	if estimate := m.kind().statistic; estimate != nil {
		return estimate(m)
	}
	return nil
}

// Count computes a counted metric.
func (m Metric) Count(seconds []analyze.Second) float64 {
	count := m.kind().count
	var n int64
	for _, s := range seconds {
		n += count(s)
	}
	return float64(n)
}

func (m Metric) String() string {
	var b strings.Builder
	switch {
	case m.OfSignal():
		fmt.Fprintf(&b, "%s(%q)", m.Name, m.Signal)
	case m.Name == "quantile":
		for name, q := range Quantiles {
			if q == m.Quantile {
				fmt.Fprintf(&b, "%s(%s)", name, m.Basis)
			}
		}
	case m.Name == "mean", m.Name == "max":
		fmt.Fprintf(&b, "%s(%s)", m.Name, m.Basis)
	default:
		b.WriteString(m.Name)
	}
	if m.Operation != "" {
		fmt.Fprintf(&b, ".of(%q)", m.Operation)
	}
	if m.Variant != "" {
		fmt.Fprintf(&b, "[%q]", m.Variant)
	}
	if m.Node != "" {
		fmt.Fprintf(&b, ".on(%q)", m.Node)
	}
	switch {
	case m.Step != "":
		fmt.Fprintf(&b, ".during(%q, %q)", m.Phase, m.Step)
	case m.Phase != "":
		fmt.Fprintf(&b, ".during(%q)", m.Phase)
	}
	return b.String()
}

// Millis is a duration as expectations count it.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Warmup is the name of the phase that is not judged.
const Warmup = "warmup"

// WatchPrefix begins the name of a signal that is an expression in PromQL over the series of a watch: watch.plimsoll_replica_lag_seconds.
const WatchPrefix = "watch."
