package expect

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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

	written string // on the page of trial files; "": as its name
	about   string // what it is, there; "": what the row above it is, in whose row it stands
}

// kinds are all metrics, in the order in which a page lists them.
var kinds = []kind{
	{name: "throughput", unit: "per_second", positive: true, statistic: func(Metric) analyze.Statistic { return analyze.Throughput() },
		about: "operations completed per second"},
	{name: "quantile", unit: "ms", argument: true, positive: true, statistic: func(m Metric) analyze.Statistic { return analyze.Percentile(m.Quantile, m.of()) },
		written: "p99(response)", about: "time from the intended start; with `(service)` from the actual start. Quantiles are " + codes(slices.Sorted(maps.Keys(Quantiles)))},
	{name: "mean", unit: "ms", argument: true, positive: true, statistic: func(m Metric) analyze.Statistic { return analyze.Mean(m.of()) }, written: "mean(response)"},
	{name: "max", unit: "ms", argument: true, positive: true, statistic: func(m Metric) analyze.Statistic { return analyze.Max(m.of()) }, written: "max(response)"},
	{name: "errors", unit: "count", count: func(s analyze.Second) int64 { return s.Errors }, about: "counted, not estimated"},
	{name: "late", unit: "count", count: func(s analyze.Second) int64 { return s.Late }},
	{name: "skipped", unit: "count", count: func(s analyze.Second) int64 { return s.Skipped }},
	{name: "error_share", unit: "share", statistic: func(Metric) analyze.Statistic { return analyze.ErrorShare() },
		about: "errors as a share of the scheduled operations, 0 to 1"},
	{name: "recovery_time", unit: "ms",
		about: "the longest time from the first effect of a change until throughput, response times and errors were all as before; with a ledger, the longest time from one acknowledged write to the next since a change began"},
	{name: "impact_time", unit: "ms",
		about: "until throughput, response times and errors were all as before, also with a ledger; if that did not happen before the end of the data, more than the time until then"},
	{name: "lost_writes", unit: "count", ledger: true,
		about: "counted by a ledger (`load: {ledger: {rate: 200}}` or `workload: ledger`), over all rounds; with `during`, those that this change caused"},
	{name: "duplicated_writes", unit: "count", ledger: true},
	{name: "corrupt_writes", unit: "count", ledger: true},
	{name: "stale_reads", unit: "count", ledger: true},
	{name: "recovery_point", unit: "ms", ledger: true,
		about: "with a ledger: how much older the oldest lost write is than the last acknowledgement before the database stopped answering; 0 if none is lost"},
	{name: "warmth", unit: "share", byNode: true,
		about: "the share, 0 to 1, of the data set's pages in a node's memory that are still there after a change; of several nodes the lowest"},
	{name: "warm_time", unit: "ms", byNode: true,
		about: "from the end of a change until a node's miss share was within 1 % of its earlier value for 3 s; of several nodes the longest"},
}

// WriteTable writes the table as rows of Markdown: what a metric is called in a trial file, and what it is.
func WriteTable(w io.Writer) {
	var names []string
	for i, k := range kinds {
		names = append(names, cmp.Or(k.written, k.name))
		if next := i + 1; next < len(kinds) && kinds[next].about == "" {
			continue
		}
		of := kinds[i+1-len(names)]
		fmt.Fprintf(w, "| %s | %s |\n", codes(names), of.about)
		names = nil
	}
}

func codes(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

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
