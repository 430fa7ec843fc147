package watch

import (
	"slices"
	"strings"

	"plimsoll/internal/document"
)

// names are the series that a watch writes. What ends in * begins a family of which the servers, or a person's own SQL, choose the rest.
var names = []string{
	"up", "plimsoll_login_refused", "mysql_up", "mysql_version_info", "mysql_transaction_isolation", "mysql_galera_variables_info",
	"mysql_global_status_*", "mysql_global_variables_*", "mysql_slave_status_*", "sql_*", "aws_rds_*", "scylla_*",
	"plimsoll_aas", "plimsoll_user_aas", "plimsoll_cores", "plimsoll_requests_total", "plimsoll_insights_aas",
	"plimsoll_statement_aas", "plimsoll_statement_readings", "plimsoll_statement_average_seconds", "plimsoll_statement_calls_per_second", "plimsoll_statement_p99_seconds",
	"plimsoll_commit_seconds", "plimsoll_commit_part_seconds_total", "plimsoll_commit_parts_total", "plimsoll_commit_group_size", "plimsoll_oldest_transaction_seconds",
	"plimsoll_replica_lag_seconds", "plimsoll_replica_stopped", "plimsoll_replica_connecting",
	"plimsoll_iops", "plimsoll_iops_limit", "plimsoll_iops_censored",
	"plimsoll_bucket_share", "plimsoll_bucket_empty_hours", "plimsoll_bucket_empty_hours_forecast",
	"plimsoll_disk_free_bytes", "plimsoll_disk_total_bytes", "plimsoll_schema_bytes", "plimsoll_rds", "plimsoll_aurora",
	"plimsoll_superdisk_leg_missing", "plimsoll_superdisk_leg_hung_seconds", "plimsoll_superdisk_copying", "plimsoll_superdisk_record_age_seconds",
	"plimsoll_superdisk_kernel_fit", "plimsoll_superdisk_unread",
	"plimsoll_watch_paused", "plimsoll_watch_unkept_seconds", "plimsoll_own_query_seconds", "plimsoll_own_query_failed",
	"cassandra_active_tasks", "cassandra_pending_tasks", "cassandra_blocked_tasks", "cassandra_completed_tasks_total",
	"cassandra_pending_compactions", "cassandra_running_compactions", "cassandra_streams", "cassandra_hinted_endpoints",
	"cassandra_dropped_messages_total", "cassandra_expired_messages_total", "cassandra_clients", "cassandra_disk_mebibytes",
	"cassandra_requests_total", "cassandra_latency_p99_seconds",
}

// Names are the series that a watch writes. What ends in * begins a family of which the servers, or a person's own SQL, choose the rest.
func Names() []string { return slices.Clone(names) }

// Writes tells whether a watch can write a series of that name, and which name is nearest if not; "" if none is near.
func Writes(name string) (nearest string, can bool) {
	for _, known := range names {
		if family, open := strings.CutSuffix(known, "*"); known == name || open && len(name) > len(family) && strings.HasPrefix(name, family) {
			return "", true
		}
	}
	return document.Nearest(name, names), false
}
