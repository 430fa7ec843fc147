package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// ofStart are settings of which an empty data folder shows nothing: they are for a server that runs. The first are the node's own.
var ofStart = []string{
	"bind_address", "port", "datadir", "tmpdir", "pid_file", "init_file", "server_id", "report_host", "report_port", "gtid_domain_id", "read_only",

	"binlog_format", "binlog_row_image", poolSize, "innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_dump_pct",
	"innodb_buffer_pool_load_at_startup", "innodb_flush_log_at_timeout", "innodb_flush_log_at_trx_commit", "innodb_io_capacity",
	"innodb_io_capacity_max", "innodb_lock_wait_timeout", "innodb_lru_scan_depth", "innodb_old_blocks_pct", "innodb_old_blocks_time",
	"join_buffer_size", "log_bin", "log_bin_trust_function_creators", "log_slave_updates", "long_query_time", "max_connections",
	"max_heap_table_size", "performance_schema", "persisted_globals_load", "skip_log_bin", "slow_query_log", "sort_buffer_size",
	"super_read_only", "sync_binlog", "table_definition_cache", "table_open_cache", "thread_cache_size", "tmp_table_size", "wait_timeout",
}

// ofData are settings that an empty data folder shows, and of which one folder of each value is kept.
var ofData = []string{"innodb_log_file_size", "innodb_redo_log_capacity"}

// Template names the server's program, its version, and the settings that its empty data folder shows.
func (Servers) Template(n engine.Node) string {
	for name := range n.Config {
		if key := admin.VariableName(name); !slices.Contains(ofStart, key) && !slices.Contains(ofData, key) {
			return ""
		}
	}
	all, err := settingsOf(n)
	if err != nil {
		return "" // which Configure has told
	}
	log := "binlog" // MySQL's default; its first file is made with the data folder
	if _, off := all["skip_log_bin"]; off || n.Dist.Product != mysqlProduct {
		log = "" // MariaDB makes its data folder without
	} else if name := all["log_bin"]; name != "" && name != log {
		return ""
	}
	maps.DeleteFunc(all, func(name, _ string) bool { return slices.Contains(ofStart, name) })
	hash := sha256.New()
	hash.Write([]byte(log + "\n"))
	hash.Write([]byte(n.Dist.Paths[serverPath] + "\n"))
	hash.Write(all.render())
	return n.Dist.Product + "-" + n.Dist.Exact + "-" + hex.EncodeToString(hash.Sum(nil))[:12]
}
