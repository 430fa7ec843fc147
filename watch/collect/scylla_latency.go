package collect

import (
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"

	"plimsoll/watch"
)

// latencyOf is what a histogram is of: an operation, on a table where the node shows tables.
type latencyOf struct{ keyspace, table, operation string }

// latencies is a histogram, of all shards and scheduling groups together: how many operations took so many microseconds at most.
type latencies struct {
	count  float64
	atMost map[float64]float64
}

func (l *latencies) add(h *dto.Histogram) {
	if l.atMost == nil {
		l.atMost = map[float64]float64{}
	}
	l.count += float64(h.GetSampleCount())
	for _, b := range h.GetBucket() {
		l.atMost[b.GetUpperBound()] += float64(b.GetCumulativeCount())
	}
}

// quantileSince is a quantile of what came since an earlier reading, in microseconds, as Prometheus' histogram_quantile has it: within a
// bucket all lengths are taken for as likely. It is not known where nothing came, or where the counters fell.
func (l latencies) quantileSince(before latencies, q float64) (float64, bool) {
	count := l.count - before.count
	if before.atMost == nil || count <= 0 {
		return 0, false
	}
	bounds := make([]float64, 0, len(l.atMost))
	for bound := range l.atMost {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	low, below := 0.0, 0.0
	for _, bound := range bounds {
		upTo := l.atMost[bound] - before.atMost[bound]
		if upTo >= q*count {
			if math.IsInf(bound, 1) || upTo == below {
				return low, true // of the last bucket only its beginning is known
			}
			return low + (bound-low)*(q*count-below)/(upTo-below), true
		}
		if !math.IsInf(bound, 1) {
			low, below = bound, upTo
		}
	}
	return low, true
}

// latencyMetrics are the histograms that are read.
var latencyMetrics = []struct{ metric, operation string }{
	{"scylla_storage_proxy_coordinator_read_latency", "read"}, {"scylla_storage_proxy_coordinator_write_latency", "write"},
	{"scylla_column_family_read_latency", "read"}, {"scylla_column_family_write_latency", "write"},
}

// times are the latencies of coordinated reads and writes since the reading before, and of tables where the node shows them.
func (c *scylla) times(now time.Time, families map[string]*dto.MetricFamily, r *watch.Reading) (worst, throughput *float64) {
	shown := map[latencyOf]latencies{}
	for _, of := range latencyMetrics {
		for _, m := range families[of.metric].GetMetric() {
			if m.GetHistogram() == nil {
				continue
			}
			key := latencyOf{labelOf(m, "ks"), labelOf(m, "cf"), of.operation}
			sum := shown[key]
			sum.add(m.GetHistogram())
			shown[key] = sum
		}
	}
	all := 0.0
	for of, l := range shown {
		labels := []string{"keyspace", of.keyspace, "table", of.table, "operation", of.operation}
		r.Add(now, "cassandra_requests_total", l.count, labels...)
		if of.table == "" {
			all += l.count
		}
		micros, known := l.quantileSince(c.before[of], 0.99)
		if !known {
			continue
		}
		seconds := micros / 1e6
		r.Add(now, "cassandra_latency_p99_seconds", seconds, labels...)
		if worst == nil || seconds > *worst {
			worst = &seconds
		}
	}
	c.before = shown
	c.requests.turn(now, map[string]float64{"all": all})
	return worst, c.requests.rate("all")
}
