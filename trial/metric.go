package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/analyze"
)

// Metric is one measured number as an expectation names it, with where it is taken.
type Metric struct {
	Name      string  // throughput, errors, error_share, late, skipped, quantile, mean, max, recovery_time
	Quantile  float64 // of a quantile, 0 to 1
	Basis     basis   // of quantile, mean and max
	Operation string  // "" is all operations together

	Variant string            // "" is whichever the claim is asked for
	At      map[string]string // levels of factors; a factor that is not here is whichever the claim is asked for
	Phase   string            // "" is all that was measured
}

// basis is which time is meant.
type basis string

const (
	response basis = "response"
	service  basis = "service"
)

// The names of quantiles, as they are called in expectations and figures.
var quantiles = map[string]float64{"p50": .5, "p75": .75, "p90": .9, "p95": .95, "p99": .99, "p999": .999}

// plainMetrics are those that are named without arguments.
var plainMetrics = []string{"throughput", "errors", "error_share", "late", "skipped", "recovery_time"}

// exact tells the metrics that are counted, not estimated.
func (m Metric) exact() bool {
	return slices.Contains([]string{"errors", "late", "skipped", "recovery_time"}, m.Name)
}

// positive tells the metrics that are never zero where there is data, so that a ratio of them makes sense.
func (m Metric) positive() bool {
	return slices.Contains([]string{"throughput", "quantile", "mean", "max"}, m.Name)
}

// unit is the unit of the metric's value.
func (m Metric) unit() string {
	switch m.Name {
	case "throughput":
		return "per_second"
	case "error_share":
		return "share"
	case "recovery_time", "quantile", "mean", "max":
		return "ms"
	}
	return "count"
}

// statistic computes an estimated metric from seconds; latencies are in milliseconds.
func (m Metric) statistic() analyze.Statistic {
	of := analyze.Response
	if m.Basis == service {
		of = analyze.Service
	}
	switch m.Name {
	case "throughput":
		return analyze.Throughput()
	case "error_share":
		return analyze.ErrorShare()
	case "mean":
		return analyze.Mean(of)
	case "max":
		return analyze.Max(of)
	}
	return analyze.Percentile(m.Quantile, of)
}

// count computes a counted metric.
func (m Metric) count(seconds []analyze.Second) float64 {
	var n int64
	for _, s := range seconds {
		switch m.Name {
		case "errors":
			n += s.Errors
		case "late":
			n += s.Late
		case "skipped":
			n += s.Skipped
		}
	}
	return float64(n)
}

func (m Metric) String() string {
	var b strings.Builder
	switch m.Name {
	case "quantile":
		for name, q := range quantiles {
			if q == m.Quantile {
				fmt.Fprintf(&b, "%s(%s)", name, m.Basis)
			}
		}
	case "mean", "max":
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
	if m.Phase != "" {
		fmt.Fprintf(&b, ".during(%q)", m.Phase)
	}
	return b.String()
}

// millis is a duration as expectations count it.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
