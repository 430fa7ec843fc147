package collect

import (
	"context"
	"regexp"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// everySecond are the status variables that are read every second; all of them every ten.
var everySecond = []string{
	"Uptime", "Questions", "Com_select", "Com_insert", "Com_update", "Com_delete", "Com_commit", "Com_rollback", "Handler_commit",
	"Threads_connected", "Threads_running", "Connections", "Aborted_connects", "Bytes_received", "Bytes_sent", "Slow_queries",
	"Innodb_data_reads", "Innodb_data_writes", "Innodb_data_read", "Innodb_data_written", "Innodb_data_fsyncs",
	"Innodb_log_writes", "Innodb_os_log_fsyncs",
	"Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Innodb_buffer_pool_wait_free", "Innodb_buffer_pool_pages_dirty",
	"Innodb_row_lock_current_waits", "Innodb_row_lock_time", "Innodb_row_lock_waits", "Innodb_log_waits", "Innodb_os_log_written",
	"Innodb_rows_read", "Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted", "Innodb_history_list_length",
	"Binlog_commits", "Binlog_group_commits", "Created_tmp_disk_tables", "Innodb_deadlocks",
	"Rpl_semi_sync_master_tx_wait_time", "Rpl_semi_sync_source_tx_wait_time", "Rpl_semi_sync_master_tx_waits", "Rpl_semi_sync_source_tx_waits",
}

// statusTable is where MariaDB shows status variables to a SELECT, which it can limit. MySQL's own such table,
// performance_schema.global_status, lacks the counters of commands: it is asked by SHOW.
const statusTable = "information_schema.GLOBAL_STATUS"

// status reads status variables; of no names it reads all.
func (q *quick) status(ctx context.Context, names []string) (map[string]float64, error) {
	where := func(column string) string {
		if len(names) == 0 {
			return ""
		}
		return " WHERE " + column + " IN ('" + strings.Join(names, "', '") + "')"
	}
	if !q.lacking(statusTable) {
		r, err := q.rows(ctx, "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM "+statusTable+where("VARIABLE_NAME"))
		if err == nil {
			return statusOf(r), nil
		}
		if !q.lack(statusTable, err) {
			return nil, err
		}
	}
	r, err := q.rows(ctx, "SHOW GLOBAL STATUS"+where("CAST(Variable_name AS BINARY)")) // to compare by MySQL's collation takes longer than to show all
	if err != nil {
		return nil, err
	}
	return statusOf(r), nil
}

func statusOf(r *engine.Result) map[string]float64 {
	all := make(map[string]float64, r.Rows)
	for row := range r.Rows {
		v, ok := number(r.At(row, 1))
		if !ok {
			v, ok = moment(text(r.At(row, 1)))
		}
		if ok {
			all[strings.ToLower(string(r.At(row, 0).Data))] = v
		}
	}
	return all
}

// moment reads a status variable that is a time, as seconds since 1970: when a certificate expires, or most connections were open.
// A time without a zone is in the local time of the server, whose offset nobody tells: it is taken for UTC.
func moment(text string) (float64, bool) {
	for _, layout := range []string{time.DateTime, "Jan _2 15:04:05 2006 MST"} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.Unix()), true
		}
	}
	return 0, false
}

// addStatus writes status variables under the names that mysqld_exporter gives them, so that dashboards in use go on working.
func addStatus(to *watch.Reading, at time.Time, status map[string]float64) {
	const prefix = "mysql_global_status_"
	for name, v := range status {
		switch family, rest := statusFamily(name); family {
		case "com_":
			to.Add(at, prefix+"commands_total", v, "command", rest)
		case "handler_":
			to.Add(at, prefix+"handlers_total", v, "handler", rest)
		case "connection_errors_":
			to.Add(at, prefix+"connection_errors_total", v, "error", rest)
		case "innodb_rows_":
			to.Add(at, prefix+"innodb_row_ops_total", v, "operation", rest)
		case "performance_schema_":
			to.Add(at, prefix+"performance_schema_lost_total", v, "instrumentation", rest)
		case "innodb_buffer_pool_pages_":
			switch rest {
			case "data", "free", "misc", "old":
				to.Add(at, prefix+"buffer_pool_pages", v, "state", rest)
			case "dirty":
				to.Add(at, prefix+"buffer_pool_dirty_pages", v)
			case "total":
			default:
				to.Add(at, prefix+"buffer_pool_page_changes_total", v, "operation", rest)
			}
		default:
			to.Add(at, prefix+metricName(name), v)
		}
	}
}

var noName = regexp.MustCompile(`[^a-z0-9_]`)

// metricName makes a server's name of something one that Prometheus takes: option_tracker_usage:Binary Log of MySQL 9 is none, and a scrape with it fails as a whole.
func metricName(name string) string { return noName.ReplaceAllString(strings.ToLower(name), "_") }

var statusFamilies = []string{"com_", "handler_", "connection_errors_", "innodb_rows_", "performance_schema_", "innodb_buffer_pool_pages_"}

func statusFamily(name string) (family, rest string) {
	for _, f := range statusFamilies {
		if rest, ok := strings.CutPrefix(name, f); ok {
			return f, rest
		}
	}
	return "", name
}
