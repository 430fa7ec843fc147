package collect

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// scyllaText is written by hand in the form in which ScyllaDB 5 and later show their metrics (a sample for each shard, latencies as
// histograms in microseconds by scheduling group). No ScyllaDB runs in these tests.
func scyllaText(reads, slow int) string {
	return fmt.Sprintf(`# HELP scylla_compaction_manager_pending_compactions Holds the number of compaction tasks waiting for an opportunity to run.
# TYPE scylla_compaction_manager_pending_compactions gauge
scylla_compaction_manager_pending_compactions{shard="0"} 7.000000
scylla_compaction_manager_pending_compactions{shard="1"} 5.000000
# HELP scylla_hints_manager_size_of_hints_in_progress Size of hinted mutations that are scheduled to be written.
# TYPE scylla_hints_manager_size_of_hints_in_progress gauge
scylla_hints_manager_size_of_hints_in_progress{shard="0"} 4096.000000
scylla_hints_manager_size_of_hints_in_progress{shard="1"} 0.000000
# HELP scylla_hints_manager_dropped Number of dropped hints.
# TYPE scylla_hints_manager_dropped counter
scylla_hints_manager_dropped{shard="0"} 3
scylla_hints_manager_dropped{shard="1"} 1
# HELP scylla_reactor_utilization CPU utilization
# TYPE scylla_reactor_utilization gauge
scylla_reactor_utilization{shard="0"} 91.5
scylla_reactor_utilization{shard="1"} 12.5
# HELP scylla_streaming_total_incoming_bytes Total number of bytes received on this shard.
# TYPE scylla_streaming_total_incoming_bytes counter
scylla_streaming_total_incoming_bytes{shard="0"} 1000
scylla_streaming_total_incoming_bytes{shard="1"} 2000
# HELP scylla_scylladb_current_version Current ScyllaDB version.
# TYPE scylla_scylladb_current_version gauge
scylla_scylladb_current_version{shard="",version="5.4.1-0.20231231.3d22f42cf9c3"} 0.000000
# HELP scylla_storage_proxy_coordinator_read_latency The general read latency histogram
# TYPE scylla_storage_proxy_coordinator_read_latency histogram
scylla_storage_proxy_coordinator_read_latency_sum{scheduling_group_name="statement",shard="0"} 1000
scylla_storage_proxy_coordinator_read_latency_count{scheduling_group_name="statement",shard="0"} %[1]d
scylla_storage_proxy_coordinator_read_latency_bucket{le="1024.000000",scheduling_group_name="statement",shard="0"} %[2]d
scylla_storage_proxy_coordinator_read_latency_bucket{le="2048.000000",scheduling_group_name="statement",shard="0"} %[1]d
scylla_storage_proxy_coordinator_read_latency_bucket{le="+Inf",scheduling_group_name="statement",shard="0"} %[1]d
`, reads, reads-slow)
}

func TestScyllaDBIsReadFromItsMetrics(t *testing.T) {
	text, asked := scyllaText(1000, 0), 0
	shown := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/metrics" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, text)
	}))
	defer shown.Close()
	dial := func(context.Context) (engine.Session, error) { return withoutVirtualTables{}, nil }
	readers := Cassandra(dial, "127.0.0.9:9042", 2)
	metrics := readers[1].(*scylla)
	if metrics.url != "http://127.0.0.9:9180/metrics" {
		t.Errorf("it asks %s", metrics.url)
	}
	metrics.url = shown.URL + "/metrics"
	if r, err := metrics.Collect(t.Context(), watch.TenSeconds, time.Now()); err != nil || len(r.Samples) > 0 || asked > 0 {
		t.Errorf("a node that may have virtual tables is asked for metrics: %+v, %v", r.Samples, err)
	}
	w := &watched{t: t, readers: readers, samples: map[string]float64{}}
	w.read(watch.TenMinutes)
	text = scyllaText(1200, 4) // of 200 reads 4 took longer than a millisecond
	w.read(watch.TenSeconds)
	for name, want := range map[string]float64{
		"cassandra_pending_compactions":                  12,
		"scylla_hints_manager_size_of_hints_in_progress": 4096,
		"cassandra_dropped_messages_total hints":         4,
		"scylla_streaming_total_incoming_bytes":          3000,
		"scylla_reactor_utilization":                     104,
		"scylla_shards":                                  2,
		"cassandra_requests_total   read":                1200,
		// The 198th of 200 is the second of the four in the bucket from 1,024 to 2,048 µs.
		"cassandra_latency_p99_seconds   read": (1024 + 1024*0.5) / 1e6,
	} {
		if got, ok := w.samples[name]; !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v (shown: %v), want %v", name, got, ok, want)
		}
	}
	if w.seen.Product != "ScyllaDB" || !strings.HasPrefix(w.seen.Version, "5.4.1") || w.seen.P99 == nil || w.seen.Throughput == nil {
		t.Errorf("%+v", w.seen)
	}
	// Newer versions name the hints that were sent otherwise.
	text = strings.ReplaceAll(text, "5.4.1-0.20231231.3d22f42cf9c3", "6.2.0-0.20241013.b8a9fd4e49e8") + "# TYPE scylla_hints_manager_sent_total counter\nscylla_hints_manager_sent_total{shard=\"0\"} 9\n"
	if w.read(watch.TenSeconds); w.samples["scylla_hints_manager_sent"] != 9 {
		t.Errorf("%v hints were sent", w.samples["scylla_hints_manager_sent"])
	}
	w.told("version version")
	w.readers = readers[:1]
	if w.read(watch.Second); !slices.Contains(w.seen.Watching.Lacks, ofSettings[0].table) || !slices.Contains(w.seen.Watching.Lacks, virtualTables) {
		t.Errorf("it lacks %v", w.seen.Watching.Lacks)
	}
	text = "no metrics at all {"
	if _, err := metrics.Collect(t.Context(), watch.TenSeconds, time.Now()); err == nil {
		t.Error("what is no metrics is read")
	}
}

// withoutVirtualTables answers as a server that has no virtual tables.
type withoutVirtualTables struct{ engine.Session }

func (withoutVirtualTables) Exec(_ context.Context, text string, _ *engine.Result) error {
	if strings.Contains(text, "system_views") || strings.Contains(text, "system.config") {
		return &engine.Error{Kind: engine.Missing, Text: "there is no such table"}
	}
	return nil
}

func (withoutVirtualTables) Close() error { return nil }

func FuzzScyllaMetrics(f *testing.F) {
	f.Add(scyllaText(10, 1))
	f.Fuzz(func(t *testing.T, text string) {
		families, err := metricsIn(strings.NewReader(text))
		if err != nil {
			return
		}
		var r watch.Reading
		c := &scylla{server: &server{}}
		c.times(time.Now(), families, &r)
		for _, family := range families {
			sumOf(family)
			versionOf(family)
		}
	})
}
