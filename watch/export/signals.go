package export

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/document"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/watch/store"
)

// rates are counters of a server that become signals, by the names that the probes of a trial give them.
var rates = map[string]string{
	"mysql.statements_per_second":            "mysql_global_status_questions",
	"mysql.commits_per_second":               `mysql_global_status_commands_total{command="commit"}`,
	"mysql.pool_misses_per_second":           "mysql_global_status_innodb_buffer_pool_reads",
	"mysql.data_fsyncs_per_second":           "mysql_global_status_innodb_data_fsyncs",
	"mysql.redo_bytes_per_second":            "mysql_global_status_innodb_os_log_written",
	"mysql.row_lock_waits_per_second":        "mysql_global_status_innodb_row_lock_waits",
	"mysql.row_lock_wait_ms_per_second":      "mysql_global_status_innodb_row_lock_time",
	"mysql.deadlocks_per_second":             "mysql_global_status_innodb_deadlocks",
	"mysql.disk_temporary_tables_per_second": "mysql_global_status_created_tmp_disk_tables",
}

// levels are what a server shows as it is now.
var levels = map[string]string{
	"mysql.threads_running":     "mysql_global_status_threads_running",
	"mysql.connections":         "mysql_global_status_threads_connected",
	"mysql.history_list_length": "mysql_global_status_innodb_history_list_length",
}

// rateOver is the period of a rate: the ten seconds within which every counter is read, and a second to either side.
const rateOver = "12s"

// signals writes signals.csv and returns how many signals of how many instances it has.
func (x *exporter) signals(ctx context.Context, w *result.Writer) (int, error) {
	seen := map[string]bool{}
	put := func(name string, l store.Line) error {
		points := make([]series.Point, 0, len(l.Points))
		node := nodeOf(l.Labels["instance"])
		for _, p := range l.Points {
			points = append(points, series.Point{Time: p.At, Signal: name, Node: node, Value: p.Value})
		}
		seen[name+"\x00"+node] = len(points) > 0 || seen[name+"\x00"+node]
		return w.Signals(points)
	}
	// What the watch works out, and a person's own SQL, is kept as it is, but for what statements do one by one.
	own, err := x.kept.Select(ctx, x.of(`__name__=~"(plimsoll|sql)_.+",digest=""`), x.o.From, x.o.To)
	if err != nil {
		return 0, err
	}
	for _, l := range own {
		if err := put(signalOf(l.Labels), l); err != nil {
			return 0, err
		}
	}
	for _, name := range document.SortedKeys(levels) {
		lines, err := x.kept.Select(ctx, x.of(fmt.Sprintf("__name__=%q", levels[name])), x.o.From, x.o.To)
		if err != nil {
			return 0, err
		}
		for _, l := range lines {
			if err := put(name, l); err != nil {
				return 0, err
			}
		}
	}
	asked := map[string]string{}
	for name, counter := range rates {
		asked[name] = fmt.Sprintf("rate(%s[%s])", matching(counter, fmt.Sprintf("cluster=%q", x.o.Cluster)), rateOver)
	}
	maps.Copy(asked, x.o.Series)
	for _, name := range document.SortedKeys(asked) {
		lines, err := x.kept.Query(ctx, asked[name], x.o.From, x.o.To, time.Second)
		if err != nil {
			return 0, err
		}
		for _, l := range lines {
			if cluster := l.Labels["cluster"]; cluster != "" && cluster != x.o.Cluster {
				continue
			}
			if err := put(name, l); err != nil {
				return 0, err
			}
		}
	}
	return len(seen), nil
}

// matching puts a matcher into a selector.
func matching(selector, matcher string) string {
	if head, ok := strings.CutSuffix(selector, "}"); ok {
		return head + "," + matcher + "}"
	}
	return selector + "{" + matcher + "}"
}

// signalOf is a series' name as signals have theirs: plimsoll_aas{job="mysql",wait="row lock"} is mysql.aas.row_lock.
func signalOf(labels map[string]string) string {
	job := labels["job"]
	if job == "" {
		job = "watch"
	}
	parts := []string{job, strings.TrimPrefix(labels["__name__"], "plimsoll_")}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		switch name {
		case "__name__", "job", "instance", "cluster":
		default:
			parts = append(parts, strings.Map(func(r rune) rune {
				if r == ' ' || r == '.' || r == ',' || r == '"' {
					return '_'
				}
				return r
			}, labels[name]))
		}
	}
	return strings.Join(parts, ".")
}
