package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/watch"
)

// Latest keeps the last sample of every series, for Metrics. It is safe for concurrent use.
type Latest struct {
	mu   sync.Mutex
	last map[string]watch.Sample
	down map[string]time.Time // instances that do not answer, and since when
}

// Append takes samples; it never fails. Of an instance that does not answer nothing older is shown: a server that is gone has no counters.
func (l *Latest) Append(_ context.Context, samples []watch.Sample) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last, l.down = map[string]watch.Sample{}, map[string]time.Time{}
	}
	for _, s := range samples {
		if s.Name != "up" {
			continue
		}
		if of := instanceOf(s); s.Value != 0 {
			delete(l.down, of)
		} else if _, known := l.down[of]; !known {
			l.down[of] = s.At
			l.forget(of)
		}
	}
	for _, s := range samples {
		if since, is := l.down[instanceOf(s)]; !is || !s.At.Before(since) {
			l.last[seriesOf(s)] = s
		}
	}
	return nil
}

// End forgets an instance that is watched no more.
func (l *Latest) End(instance string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.down, instance)
	l.forget(instance)
}

func (l *Latest) forget(instance string) {
	maps.DeleteFunc(l.last, func(_ string, s watch.Sample) bool { return instanceOf(s) == instance })
}

func instanceOf(s watch.Sample) string {
	for _, label := range s.Labels {
		if label.Name == "instance" {
			return label.Value
		}
	}
	return ""
}

// stale is the age at which a series is not shown any more: twice what the rarest level takes.
const stale = 20 * time.Minute

// fresh are the series by name, without those that ended.
func (l *Latest) fresh(now time.Time) []watch.Sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []watch.Sample
	for key, s := range l.last {
		if now.Sub(s.At) > stale {
			delete(l.last, key)
			continue
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b watch.Sample) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(seriesOf(a), seriesOf(b)))
	})
	return all
}

// Metrics shows the latest values in Prometheus' text format. Those of the status and the settings have mysqld_exporter's names.
func (l *Latest) Metrics(now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var out bytes.Buffer
		name := ""
		for _, s := range l.fresh(now()) {
			if s.Name != name {
				name = s.Name
				if help[name] != "" {
					fmt.Fprintf(&out, "# HELP %s %s\n", name, help[name])
				}
				fmt.Fprintf(&out, "# TYPE %s %s\n", name, kind(name))
			}
			fmt.Fprintf(&out, "%s %s\n", seriesOf(s), strconv.FormatFloat(s.Value, 'g', -1, 64))
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(out.Bytes()) // nobody is left to be told
	})
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func seriesOf(s watch.Sample) string {
	labels := slices.Clone(s.Labels)
	slices.SortFunc(labels, func(a, b watch.Label) int { return cmp.Compare(a.Name, b.Name) })
	var out strings.Builder
	out.WriteString(s.Name)
	for n, l := range labels {
		out.WriteByte("{,"[min(n, 1)])
		out.WriteString(l.Name + `="` + escape.Replace(l.Value) + `"`)
	}
	if len(labels) > 0 {
		out.WriteByte('}')
	}
	return out.String()
}

// help says of our own series what they are.
var help = map[string]string{
	"plimsoll_aas":                             "Average active sessions by wait.",
	"plimsoll_cores":                           "Processors of the instance.",
	"plimsoll_commit_seconds":                  "Seconds of a commit, by part.",
	"plimsoll_commit_part_seconds_total":       "Seconds that commits took, by part, since the watch began: with plimsoll_commit_parts_total the mean of any period.",
	"plimsoll_commit_parts_total":              "Commits whose part was timed, by part, since the watch began.",
	"plimsoll_commit_group_size":               "Commits per write of the binary log (group commit).",
	"plimsoll_replica_lag_seconds":             "Seconds that a channel is behind its source.",
	"plimsoll_replica_stopped":                 "1: a replication channel is not running.",
	"plimsoll_replica_connecting":              "1: a replication channel is started and has no connection to its source.",
	"plimsoll_statement_p99_seconds":           "99th percentile of statement latency, in seconds.",
	"plimsoll_user_aas":                        "Average active sessions of an account, by the host it comes from.",
	"plimsoll_statement_aas":                   "Average active sessions that execute a statement.",
	"plimsoll_statement_readings":              "1: the load by statement was read. A statement that it does not name is not among the largest.",
	"plimsoll_oldest_transaction_seconds":      "Seconds that the oldest open transaction has lasted.",
	"plimsoll_iops":                            "I/O operations a second.",
	"plimsoll_iops_limit":                      "I/O operations per second that the storage allows now.",
	"plimsoll_iops_censored":                   "1: the IOPS are throttled at the limit of the storage.",
	"plimsoll_bucket_share":                    "Fill level of the storage's burst bucket.",
	"plimsoll_bucket_empty_hours":              "Hours until the burst bucket is empty at the present IOPS.",
	"plimsoll_watch_unkept_seconds":            "Seconds since which the watch cannot keep samples, as on a full disk; 0: it keeps them.",
	"plimsoll_watch_paused":                    "1: the instance is polled less often, or not at all.",
	"plimsoll_rds":                             "1: the instance runs on RDS or Aurora, whose parameter groups have its settings.",
	"plimsoll_aurora":                          "1: the instance runs on Aurora.",
	"plimsoll_schema_bytes":                    "Bytes of data and indexes of a schema.",
	"up":                                       "1: the instance answers.",
	"plimsoll_login_refused":                   "1: the instance answers and refuses the watch's account; up is 0 then, and the instance is not down.",
	"mysql_up":                                 "1: the server answers.",
	"mysql_global_status_threads_running":      "Threads that are running.",
	"mysql_global_status_commands_total":       "Statements by kind.",
	"mysql_global_variables_max_connections":   "The setting max_connections.",
	"mysql_global_status_threads_connected":    "Open connections.",
	"mysql_global_status_uptime":               "Seconds since the server started.",
	"plimsoll_statement_calls_per_second":      "Executions of a statement a second.",
	"plimsoll_statement_average_seconds":       "Mean seconds of a statement.",
	"mysql_global_status_innodb_deadlocks":     "Deadlocks since the server started.",
	"mysql_global_status_handlers_total":       "Calls of the handler by kind.",
	"mysql_global_status_buffer_pool_pages":    "Pages in the buffer pool by state.",
	"mysql_global_status_aborted_connects":     "Attempts to connect that failed.",
	"mysql_global_status_queries":              "Statements, with those within stored programs.",
	"mysql_global_status_questions":            "Statements that clients sent.",
	"mysql_global_status_innodb_row_ops_total": "Rows that InnoDB worked on by operation.",
}

// gauges are those of mysqld_exporter's names that it shows as gauges.
var gauges = map[string]bool{
	"up": true, "mysql_up": true, "mysql_version_info": true, "mysql_transaction_isolation": true, "mysql_galera_variables_info": true,
	"mysql_global_status_buffer_pool_pages": true, "mysql_global_status_buffer_pool_dirty_pages": true,
}

// counters are those of mysqld_exporter's names that it shows as counters; what else the server calls a total may be none.
var counters = map[string]bool{
	"mysql_global_status_commands_total": true, "mysql_global_status_handlers_total": true, "mysql_global_status_connection_errors_total": true,
	"mysql_global_status_innodb_row_ops_total": true, "mysql_global_status_buffer_pool_page_changes_total": true, "mysql_global_status_performance_schema_lost_total": true,
}

// kind is a series' type, as far as its name tells.
func kind(name string) string {
	switch {
	case strings.HasSuffix(name, "_total") && (!strings.HasPrefix(name, "mysql_global_status_") || counters[name]):
		return "counter"
	case strings.HasPrefix(name, "plimsoll_"), strings.HasPrefix(name, "mysql_global_variables_"), gauges[name]:
		return "gauge"
	}
	return "untyped"
}
