package expect

import (
	"plimsoll/analyze"
	"plimsoll/result"
	"plimsoll/series"
)

// kind is a row of the table of metrics: all that is known of a metric by its name.
type kind struct {
	name string
	unit string // per_second, share, ms, count
	// A metric of seconds is estimated by a statistic, or counted. One that has neither is measured elsewhere: from the dips of a
	// phase, the cache of a node, or a ledger.
	statistic func(m Metric) analyze.Statistic // latencies are in milliseconds
	count     func(s analyze.Second) int64
	argument  bool // it is named with what it is of: p99(response)
	positive  bool // never zero where there is data, so that a ratio of it makes sense
	byNode    bool // measured by node
	ledger    bool // there only with a ledger
}

// kinds are all metrics, in the order in which a page lists them.
var kinds = []kind{
	{name: "throughput", unit: "per_second", positive: true, statistic: func(Metric) analyze.Statistic { return analyze.Throughput() }},
	{name: "errors", unit: "count", count: func(s analyze.Second) int64 { return s.Errors }},
	{name: "error_share", unit: "share", statistic: func(Metric) analyze.Statistic { return analyze.ErrorShare() }},
	{name: "late", unit: "count", count: func(s analyze.Second) int64 { return s.Late }},
	{name: "skipped", unit: "count", count: func(s analyze.Second) int64 { return s.Skipped }},
	{name: "recovery_time", unit: "ms"},
	{name: "impact_time", unit: "ms"},
	{name: "warmth", unit: "share", byNode: true},
	{name: "warm_time", unit: "ms", byNode: true},
	{name: "lost_writes", unit: "count", ledger: true},
	{name: "duplicated_writes", unit: "count", ledger: true},
	{name: "stale_reads", unit: "count", ledger: true},
	{name: "corrupt_writes", unit: "count", ledger: true},
	{name: "recovery_point", unit: "ms", ledger: true},
	{name: "quantile", unit: "ms", argument: true, positive: true, statistic: func(m Metric) analyze.Statistic { return analyze.Percentile(m.Quantile, m.of()) }},
	{name: "mean", unit: "ms", argument: true, positive: true, statistic: func(m Metric) analyze.Statistic { return analyze.Mean(m.of()) }},
	{name: "max", unit: "ms", argument: true, positive: true, statistic: func(m Metric) analyze.Statistic { return analyze.Max(m.of()) }},
}

// of is the latency that a metric of latencies is of.
func (m Metric) of() func(analyze.Second) series.Snapshot {
	if m.Basis == result.Service {
		return analyze.Service
	}
	return analyze.Response
}

// kind is the metric's row; that of a statistic of a signal is empty, though it may have the name of one.
func (m Metric) kind() kind {
	if !m.OfSignal() {
		for _, k := range kinds {
			if k.name == m.Name {
				return k
			}
		}
	}
	return kind{unit: "count"}
}

// PlainMetrics are the names of those that are named without arguments.
var PlainMetrics = namesOf(func(k kind) bool { return !k.argument })

// LedgerMetrics are the names of those that a ledger counts.
var LedgerMetrics = namesOf(func(k kind) bool { return k.ledger })

func namesOf(which func(kind) bool) (names []string) {
	for _, k := range kinds {
		if which(k) {
			names = append(names, k.name)
		}
	}
	return names
}
