package mysql

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var (
	_ engine.Metered      = (*database)(nil)
	_ engine.Instrumented = Engine{}
)

// counters and gauges are the status variables that say what a server is busy with, by MySQL's and MariaDB's names, and
// as which signal they are kept. What a version lacks is left out of its readings.
var (
	counters = map[string]string{
		"Questions":                         "mysql.statements_per_second",
		"Com_commit":                        "mysql.commits_per_second",
		"Com_rollback":                      "mysql.rollbacks_per_second",
		"Innodb_rows_read":                  "mysql.rows_read_per_second",
		"Innodb_rows_inserted":              "mysql.rows_inserted_per_second",
		"Innodb_rows_updated":               "mysql.rows_updated_per_second",
		"Innodb_rows_deleted":               "mysql.rows_deleted_per_second",
		"Innodb_buffer_pool_read_requests":  "mysql.pool_requests_per_second",
		"Innodb_buffer_pool_reads":          "mysql.pool_misses_per_second",
		"Innodb_buffer_pool_pages_flushed":  "mysql.pages_flushed_per_second",
		"Innodb_buffer_pool_wait_free":      "mysql.pool_waits_per_second",
		"Innodb_data_fsyncs":                "mysql.data_fsyncs_per_second",
		"Innodb_os_log_written":             "mysql.redo_bytes_per_second",
		"Innodb_os_log_fsyncs":              "mysql.redo_fsyncs_per_second",
		"Innodb_log_waits":                  "mysql.redo_waits_per_second",
		"Innodb_row_lock_waits":             "mysql.row_lock_waits_per_second",
		"Innodb_row_lock_time":              "mysql.row_lock_wait_ms_per_second",
		"Binlog_bytes_written":              "mysql.binlog_bytes_per_second",
		"Binlog_commits":                    "mysql.binlog_commits_per_second",
		"Binlog_group_commits":              "mysql.binlog_group_commits_per_second",
		"Created_tmp_disk_tables":           "mysql.disk_temporary_tables_per_second",
		"Aborted_connects":                  "mysql.refused_connections_per_second",
		"Rpl_semi_sync_master_tx_wait_time": "mysql.semi_sync_wait_us_per_second",
		"Rpl_semi_sync_source_tx_wait_time": "mysql.semi_sync_wait_us_per_second",
	}
	gauges = map[string]string{
		"Threads_connected":                  "mysql.connections",
		"Threads_running":                    "mysql.threads_running",
		"Innodb_history_list_length":         "mysql.history_list_length",
		"Innodb_buffer_pool_pages_dirty":     "mysql.dirty_pages",
		"Innodb_buffer_pool_pages_data":      "mysql.pool_pages",
		"Innodb_checkpoint_age":              "mysql.checkpoint_age_bytes",
		"Innodb_row_lock_current_waits":      "mysql.row_locks_waited_for",
		"Innodb_data_pending_fsyncs":         "mysql.pending_fsyncs",
		"Innodb_buffer_pool_load_incomplete": "mysql.pool_load_incomplete",
	}
)

// missShare is what part of the pages that were asked for was read from disk.
const missShare = "mysql.pool_miss_share"

// Signals are those of all versions of both products.
func (Engine) Signals() []string {
	all := []string{missShare, lagSignal, lagSignal + ".*", stoppedSignal, stoppedSignal + ".*"}
	all = slices.AppendSeq(all, maps.Values(counters))
	all = slices.AppendSeq(all, maps.Values(gauges))
	slices.Sort(all)
	return slices.Compact(all)
}

// Readings asks for the global status once.
func (d *database) Readings(ctx context.Context) ([]engine.Reading, error) {
	r := engine.Result{Keep: true}
	if err := d.control.use(ctx, func(s *session) error { return s.Exec(ctx, admin.Status(), &r) }); err != nil {
		return nil, err
	}
	var out []engine.Reading
	var asked, missed float64 // of the buffer pool
	for row := range r.Rows {
		name := r.At(row, 0).Data
		switch string(name) {
		case "Innodb_buffer_pool_read_requests":
			asked, _ = statusNumber(r.At(row, 1))
		case "Innodb_buffer_pool_reads":
			missed, _ = statusNumber(r.At(row, 1))
		}
		signal, counts := counters[string(name)]
		if !counts {
			gauge, known := gauges[string(name)]
			if !known {
				continue
			}
			signal = gauge
		}
		if value, ok := statusNumber(r.At(row, 1)); ok {
			out = append(out, engine.Reading{Signal: signal, Value: value, Counter: counts})
		}
	}
	if asked > 0 { // pages that are being loaded after a start count as missed too
		out = append(out, engine.Reading{Signal: missShare, Value: missed, Counter: true, Of: asked})
	}
	return append(out, d.lags(ctx)...), nil
}

// statusNumber reads a status value, which the server sends as text: a number, ON or OFF.
func statusNumber(v engine.Value) (float64, bool) {
	switch text := strings.ToUpper(string(v.Data)); text {
	case "ON", "YES":
		return 1, true
	case "OFF", "NO":
		return 0, true
	default:
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	}
}
