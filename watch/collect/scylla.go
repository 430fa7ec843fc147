package collect

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/watch"
)

// scyllaPort is where ScyllaDB shows its metrics in Prometheus' text.
const scyllaPort = "9180"

// scylla reads a node of ScyllaDB from its metrics, every ten seconds. A server of Cassandra, which shows the same in virtual tables, is not asked.
type scylla struct {
	*server
	url      string
	client   *http.Client
	requests rates
	versions follower
	before   map[latencyOf]latencies // at the last reading
}

var _ watch.Collector = (*scylla)(nil)

func newScylla(s *server, address string) *scylla {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return &scylla{server: s, url: "http://" + net.JoinHostPort(host, scyllaPort) + "/metrics", versions: follower{kind: "version"}, client: &http.Client{Timeout: 5 * time.Second}}
}

// Close implements watch.Collector.
func (c *scylla) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

// Collect implements watch.Collector.
func (c *scylla) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if level < watch.TenSeconds || !c.lacking(virtualTables) {
		return r, nil
	}
	if _, ask, _ := c.breaker.allowed(now, level); !ask {
		r.Missed = level
		return r, nil
	}
	families, err := c.families(ctx)
	if err != nil {
		return r, err
	}
	for _, s := range scyllaSums {
		if v, shown := sumOf(families[s.metric]); shown {
			r.Add(now, s.series, v, s.labels...)
		}
	}
	if shards := len(families["scylla_reactor_utilization"].GetMetric()); shards > 0 { // each has one
		r.Add(now, "scylla_shards", float64(shards))
	}
	c.waits(now, families, &r)
	p99, throughput := c.times(now, families, &r)
	version := versionOf(families["scylla_scylladb_current_version"])
	if version != "" {
		r.Changes = append(r.Changes, c.versions.turn(now, map[string]string{"version": version})...)
	}
	r.Show = func(i *watch.Instance) {
		i.Product, i.P99, i.Throughput = "ScyllaDB", p99, throughput
		if version != "" {
			i.Version = version
		}
		if v, shown := sumOf(families["scylla_transport_current_connections"]); shown {
			i.Connections = &v
		}
	}
	return r, nil
}

// mostMetrics is how many bytes of metrics are read: a node of many cores and tables shows some megabytes.
const mostMetrics = 64 << 20

func (c *scylla) families(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the metrics of ScyllaDB: %w", err)
	}
	answer, err := c.client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("ask for the metrics of ScyllaDB: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for the metrics of ScyllaDB: %s", answer.Status)
	}
	return metricsIn(io.LimitReader(answer.Body, mostMetrics))
}

func metricsIn(text io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return nil, fmt.Errorf("read the metrics of ScyllaDB: %w", err)
	}
	return families, nil
}

// scyllaSums are metrics that are summed over the shards of a node, and the series that they become: those of Cassandra where both mean the
// same, so that rules and dashboards hold for both, and else ScyllaDB's own.
var scyllaSums = []struct {
	metric, series string
	labels         []string
}{
	{"scylla_compaction_manager_pending_compactions", "cassandra_pending_compactions", nil},
	{"scylla_compaction_manager_compactions", "cassandra_running_compactions", nil},
	{"scylla_compaction_manager_backlog", "scylla_compaction_manager_backlog", nil},
	{"scylla_hints_manager_size_of_hints_in_progress", "scylla_hints_manager_size_of_hints_in_progress", nil},
	{"scylla_hints_manager_written", "scylla_hints_manager_written", nil},
	{"scylla_hints_manager_sent", "scylla_hints_manager_sent", nil},
	{"scylla_hints_manager_sent_total", "scylla_hints_manager_sent", nil}, // as newer versions name it
	{"scylla_hints_manager_errors", "scylla_hints_manager_errors", nil},
	{"scylla_hints_manager_dropped", "cassandra_dropped_messages_total", []string{"type", "hints"}},
	{"scylla_database_dropped_view_updates", "cassandra_dropped_messages_total", []string{"type", "view updates"}},
	{"scylla_transport_requests_shed", "cassandra_dropped_messages_total", []string{"type", "requests"}},
	{"scylla_storage_proxy_coordinator_read_timeouts", "scylla_storage_proxy_coordinator_read_timeouts", nil},
	{"scylla_storage_proxy_coordinator_write_timeouts", "scylla_storage_proxy_coordinator_write_timeouts", nil},
	{"scylla_streaming_total_incoming_bytes", "scylla_streaming_total_incoming_bytes", nil},
	{"scylla_streaming_total_outgoing_bytes", "scylla_streaming_total_outgoing_bytes", nil},
	{"scylla_transport_current_connections", "cassandra_clients", nil},
	{"scylla_reactor_utilization", "scylla_reactor_utilization", nil},
}

// sumOf adds what the shards of a node show.
func sumOf(f *dto.MetricFamily) (sum float64, shown bool) {
	for _, m := range f.GetMetric() {
		if v := valueOf(m); !math.IsNaN(v) {
			sum, shown = sum+v, true
		}
	}
	return sum, shown
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	case m.GetUntyped() != nil:
		return m.GetUntyped().GetValue()
	}
	return math.NaN()
}

// waits are requests under way, of reads and of writes, as far as they are shown.
func (c *scylla) waits(now time.Time, families map[string]*dto.MetricFamily, r *watch.Reading) {
	for class, metric := range map[string]string{"read": "scylla_storage_proxy_coordinator_foreground_reads", "write": "scylla_storage_proxy_coordinator_foreground_writes"} {
		if v, shown := sumOf(families[metric]); shown {
			r.Add(now, "plimsoll_aas", v, "wait", class)
		}
	}
}

// versionOf is the label of the metric that says the version.
func versionOf(f *dto.MetricFamily) string {
	for _, m := range f.GetMetric() {
		if v := labelOf(m, "version"); v != "" {
			return v
		}
	}
	return ""
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
