package mysql

import (
	"strings"
	"testing"

	"plimsoll/action"
)

func TestAChangeThatWeakensDurabilityNamesItsWindow(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"innodb_flush_log_at_trx_commit", "1", "0", "server process or its host"},
		{"innodb_flush_log_at_trx_commit", "1", "2", "not when the server process alone"},
		{"innodb-flush-log-at-trx-commit", "2", "0", "server process or its host"},
		{"innodb_flush_log_at_trx_commit", "2", "1", ""},
		{"innodb_flush_log_at_trx_commit", "0", "2", ""},
		{"innodb_flush_log_at_trx_commit", "1", "3", ""},
		{"innodb_flush_log_at_trx_commit", "1", "4", "not when the server process alone"}, // taken for the nearest
		{"sync_binlog", "1", "0", "any number"},
		{"sync_binlog", "1", "100", "up to 100 groups"},
		{"sync_binlog", "100", "1", ""},
		{"sync_binlog", "0", "100", ""},
		{"sync_binlog", "10", "100", "up to 100 groups"},
		{"innodb_flush_log_at_timeout", "1", "5", "up to 5 s"},
		{"innodb_flush_log_at_timeout", "9", "5", ""},
		{"rocksdb_flush_log_at_trx_commit", "1", "2", "last second"},
		{"sync_relay_log", "10000", "0", "have to rebuild the replica"},
		{"sync_relay_log", "1", "10000", ""},
		{"relay_log_recovery", "ON", "OFF", "torn"},
		{"relay_log_info_repository", "TABLE", "FILE", "repeat or miss"},
		{"binlog_error_action", "ABORT_SERVER", "IGNORE_ERROR", "continues without it"},
		{"innodb_doublewrite", "ON", "OFF", "half written"},
		{"innodb_doublewrite", "ON", "detect_only", "half written"},
		{"innodb_doublewrite", "ON", "DETECT_AND_RECOVER", ""},
		{"innodb_doublewrite", "ON", "fast", "half written"},
		{"innodb_doublewrite", "ON", "2", "half written"},
		{"innodb_flush_method", "O_DIRECT", "nosync", "not all writes are synced"},
		{"innodb_flush_method", "fsync", "O_DIRECT_NO_FSYNC", "not all writes are synced"},
		{"innodb_flush_method", "fsync", "O_DIRECT", ""},
		{"max_connections", "100", "200", ""},
		// Two copies of a commit are its durability where servers replicate semi-synchronously.
		{"rpl_semi_sync_master_enabled", "ON", "OFF", "no replica has them"},
		{"rpl_semi_sync_source_enabled", "ON", "0", "no replica has them"},
		{"rpl_semi_sync_source_enabled", "OFF", "ON", ""},
		{"rpl_semi_sync_slave_enabled", "ON", "OFF", "no longer waits for this replica"},
		{"rpl_semi_sync_replica_enabled", "ON", "false", "no longer waits for this replica"},
		{"rpl_semi_sync_source_wait_no_replica", "ON", "OFF", "too few replicas"},
		{"rpl_semi_sync_source_wait_point", "AFTER_SYNC", "AFTER_COMMIT", "other sessions see a commit"},
		{"rpl_semi_sync_source_timeout", "10000", "100", "for 100 ms continues alone"},
		{"rpl_semi_sync_source_timeout", "100", "10000", ""},
		{"rpl_semi_sync_master_wait_for_slave_count", "2", "1", "when 1 of the replicas has it"},
		{"rpl_semi_sync_source_wait_for_replica_count", "1", "2", ""},
		// What a server understands as well.
		{"sync_binlog", "1", "1K", "up to 1024 groups"},
		{"sync_binlog", "1", "00", "any number"},
		{"sync_binlog", "1", "-1", "any number"},
		{"sync_binlog", "1K", "1024", ""},
		{"innodb_flush_log_at_trx_commit", "1", "0K", "server process or its host"},
		{"innodb_flush_log_at_trx_commit", "1", "00", "server process or its host"},
		{"innodb_flush_log_at_trx_commit", "1", "02", "not when the server process alone"},
		{"innodb_doublewrite", "ON", "00", "half written"},
		{"rpl_semi_sync_source_enabled", "ON", "0K", "no replica has them"},
		{"loose_sync_binlog", "1", "0", "any number"},
		{"LOOSE-sync-binlog", "1", "0", "any number"},
	} {
		v := &variable{Name: c.name, Value: c.after, Persist: persistNo}
		got := v.ApprovalReason(action.CheckResult{Observed: action.Facts{"value": c.before}})
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s from %s to %s: %q, want %q", c.name, c.before, c.after, got, c.want)
		}
	}
}

// A value that is weak already, and gone after a restart, is no reason to keep it.
func TestWeakDurabilityIsNotKeptForAfterARestartUnasked(t *testing.T) {
	const now, later = "weakens durability: ", "weakens durability from the next restart on: "
	for _, c := range []struct {
		persist         persist
		value           string
		running, before any
		want            string
	}{
		{persistAlso, "0", "0", notKept, later},
		{persistAlso, "0", "0", "1", later},
		{persistAlso, "0", "1", "1", now},
		{persistAlso, "100", "0", "0", ""},
		{persistAlso, "0", "0", "0", ""},
		{persistAlso, "1", "0", notKept, ""},
		{persistOnly, "0", nil, notKept, later},
		{persistOnly, "0", nil, "1", later},
		{persistOnly, "100", nil, "0", ""},
		{persistOnly, "0K", nil, "00", ""},
		{persistNo, "0", "0", nil, ""},
	} {
		f := action.CheckResult{Observed: action.Facts{}}
		if c.running != nil {
			f.Observed["value"] = c.running
		}
		if c.before != nil {
			f.Observed["persisted"] = c.before
		}
		got := (&variable{Name: "sync_binlog", Value: c.value, Persist: c.persist}).ApprovalReason(f)
		if (got == "") != (c.want == "") || c.want != "" && !strings.HasPrefix(got, "sync_binlog = "+c.value+" "+c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Making the server that takes writes read-only stops a service: a person is asked.
func TestMakingAServerReadOnlyAsks(t *testing.T) {
	for _, c := range []struct {
		name, before, value string
		asks                bool
	}{{"read_only", "OFF", "ON", true}, {"super-read-only", "0", "1", true}, {"read_only", "ON", "ON", false}, {"read_only", "ON", "OFF", false}, {"max_connections", "1", "ON", false}} {
		v := &variable{Name: c.name, Value: c.value}
		if reason := v.ApprovalReason(action.CheckResult{Observed: action.Facts{"value": c.before}}); strings.Contains(reason, "stops the writes") != c.asks {
			t.Errorf("%s from %s to %s asks %q", c.name, c.before, c.value, reason)
		}
	}
}
