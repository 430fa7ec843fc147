package mysql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Authorizing = (*database)(nil)

// Lacks compares SHOW GRANTS with the privileges that a server of this product and version asks for.
func (c *control) Lacks(ctx context.Context, needs []engine.Need) ([]engine.Lack, error) {
	if len(needs) == 0 {
		return nil, nil
	}
	shown, err := c.shown(ctx, admin.Variables("version", "version_comment"))
	if err != nil {
		return nil, fmt.Errorf("read the server's identity: %w", err)
	}
	g, err := c.grants(ctx)
	if err != nil {
		return nil, err
	}
	return g.lacks(needs, privilegesOf(shown["version"])), nil
}

// lacks merges what is missing by where it would be granted.
func (g *grants) lacks(needs []engine.Need, p privileges) []engine.Lack {
	byPlace := map[string]*engine.Lack{}
	for _, need := range needs {
		for _, alternatives := range p.of(need) {
			namespace := p.place(need)
			if slices.ContainsFunc(alternatives, func(privilege string) bool { return g.has(privilege, namespace) }) {
				continue
			}
			where := everywhere
			if namespace != "" {
				where = within(namespace)
			}
			lack := byPlace[where]
			if lack == nil {
				lack = &engine.Lack{Account: g.account, Where: where}
				byPlace[where] = lack
			}
			lack.Privileges = with(lack.Privileges, alternatives[0])
			reason := need.For
			if alternatives[0] == "SUPER" && reason != "" { // so much is granted only by who knows for what
				reason += ": SUPER to " + string(need.Right)
			}
			lack.For = with(lack.For, reason)
		}
	}
	var all []engine.Lack
	for _, where := range slices.Sorted(maps.Keys(byPlace)) {
		lack := *byPlace[where]
		lack.Grant = fmt.Sprintf("GRANT %s ON %s TO %s", strings.Join(lack.Privileges, ", "), where, g.account)
		all = append(all, lack)
	}
	return all
}

func with(all []string, one string) []string {
	if one == "" || slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// privileges are those that a kind of server asks for. Of each list one is enough; the first is the narrowest, which is advised.
type privileges struct {
	mariadb bool
	fine    bool // it has privileges for single duties of an administrator in place of SUPER: MariaDB from 10.5, MySQL from 8.0
}

// privilegesOf reads a version: 10.11.19-MariaDB-…, 8.4.3, 5.7.44-log.
func privilegesOf(version string) privileges {
	p := privileges{mariadb: strings.Contains(version, "MariaDB")}
	numbers := strings.SplitN(version, ".", 3)
	major, _ := strconv.Atoi(numbers[0])
	minor := 0
	if len(numbers) > 1 {
		minor, _ = strconv.Atoi(numbers[1])
	}
	if p.fine = major >= 8; p.mariadb {
		p.fine = major > 10 || major == 10 && minor >= 5
	}
	return p
}

// claimNamespace is where runs keep their claims.
const claimNamespace = "plimsoll"

// place is the database that a right is of; "" is the whole server.
func (p privileges) place(n engine.Need) string {
	switch n.Right {
	case engine.ReadTables, engine.WriteTables, engine.MakeTables, engine.AlterTables, engine.MakeIndexes, engine.CopyTables:
		return n.Of
	case engine.KeepClaim, engine.ListReplicas:
		return claimNamespace
	}
	return ""
}

// of lists what a right takes: all of the lists, and of each one privilege. Tried on MariaDB 10.11 and MySQL 9.7.
func (p privileges) of(n engine.Need) [][]string {
	each := func(all ...string) [][]string {
		var out [][]string
		for _, one := range all {
			out = append(out, []string{one})
		}
		return out
	}
	switch n.Right {
	case engine.ReadTables:
		return each("SELECT")
	case engine.WriteTables:
		return each("SELECT", "INSERT", "UPDATE", "DELETE")
	case engine.MakeTables:
		return each("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "INDEX")
	case engine.AlterTables:
		if p.mariadb { // the check whether it is done sees only columns that the account may read
			return each("ALTER", "SELECT")
		}
		return each("ALTER", "CREATE", "INSERT")
	case engine.MakeIndexes:
		return each("INDEX")
	case engine.LogTriggers:
		return each("SUPER")
	case engine.ListReplicas:
		return each("SELECT", "INSERT", "DELETE", "CREATE", "DROP")
	case engine.CopyTables:
		return each("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "TRIGGER", "LOCK TABLES")
	case engine.ReadBinaryLog:
		return each("REPLICATION SLAVE", "REPLICATION CLIENT")
	case engine.KeepClaim:
		return each("SELECT", "INSERT", "UPDATE", "CREATE")
	case engine.SeeSessions, engine.SeeMemory:
		return each("PROCESS")
	}
	if p.mariadb {
		return p.ofMariaDB(n)
	}
	return p.ofMySQL(n)
}

func (p privileges) ofMySQL(n engine.Need) [][]string {
	one := func(fine string) []string {
		if !p.fine {
			return []string{"SUPER"}
		}
		return []string{fine, "SUPER"}
	}
	switch n.Right {
	case engine.SeeReplication:
		return [][]string{{"REPLICATION CLIENT", "SUPER"}}
	case engine.ManageReplication:
		return [][]string{one("REPLICATION_SLAVE_ADMIN")}
	case engine.ResetReplication:
		return [][]string{{"RELOAD"}}
	case engine.SwitchReadOnly:
		if !p.fine {
			return [][]string{{"SUPER"}}
		}
		return [][]string{one("SYSTEM_VARIABLES_ADMIN"), one("CONNECTION_ADMIN")}
	case engine.SetVariable:
		if v := variableName(n.Of); v == "read_only" || v == "super_read_only" {
			return p.ofMySQL(engine.Need{Right: engine.SwitchReadOnly})
		}
		return [][]string{one("SYSTEM_VARIABLES_ADMIN")}
	case engine.KeepVariable:
		return [][]string{{"SYSTEM_VARIABLES_ADMIN"}, {"PERSIST_RO_VARIABLES_ADMIN"}}
	case engine.EndSessions:
		if !p.fine {
			return [][]string{{"SUPER"}}
		}
		return [][]string{one("CONNECTION_ADMIN"), {"SYSTEM_USER"}} // the sessions of administrators are ended by their like alone
	case engine.HideSecrets:
		if !p.fine {
			return [][]string{{"SUPER"}}
		}
		return [][]string{{"SESSION_VARIABLES_ADMIN", "SYSTEM_VARIABLES_ADMIN", "SUPER"}}
	case engine.CloneServer:
		return [][]string{{"CLONE_ADMIN"}, {"BACKUP_ADMIN"}, {"SYSTEM_VARIABLES_ADMIN"}, {"INSERT"}} // INSERT installs the plugin
	}
	return nil
}

// ofMariaDB names what the server names when it refuses. SUPER stands for most, until 11.0 for all.
func (p privileges) ofMariaDB(n engine.Need) [][]string {
	if !p.fine {
		switch n.Right {
		case engine.SeeReplication:
			return [][]string{{"REPLICATION CLIENT", "SUPER"}}
		case engine.ResetReplication:
			return [][]string{{"RELOAD"}}
		}
		return [][]string{{"SUPER"}}
	}
	switch n.Right {
	case engine.SeeReplication:
		return [][]string{{"SLAVE MONITOR", "REPLICA MONITOR", "SUPER"}, {"BINLOG MONITOR", "REPLICATION CLIENT", "SUPER"}}
	case engine.ManageReplication:
		return [][]string{{"REPLICATION SLAVE ADMIN", "REPLICATION REPLICA ADMIN", "SUPER"}}
	case engine.ResetReplication:
		return [][]string{{"RELOAD"}}
	case engine.SwitchReadOnly:
		return [][]string{{"READ_ONLY ADMIN", "READ ONLY ADMIN"}}
	case engine.SetVariable:
		return [][]string{mariadbVariable(variableName(n.Of))}
	case engine.EndSessions:
		return [][]string{{"CONNECTION ADMIN", "SUPER"}}
	case engine.HideSecrets:
		return [][]string{{"SUPER"}}
	}
	return nil // it keeps no variables, and clones by no statement
}

// mariadbVariable is what setting a global variable takes: SUPER, unless it is one of a duty with a privilege of its own.
// https://mariadb.com/docs/server/reference/sql-statements/account-management-sql-statements/grant lists them.
func mariadbVariable(name string) []string {
	for privilege, names := range map[string][]string{
		"READ_ONLY ADMIN": {"read_only"},
		"CONNECTION ADMIN": {"connect_timeout", "disconnect_on_expired_password", "extra_max_connections", "init_connect", "max_connections",
			"max_connect_errors", "max_password_errors", "proxy_protocol_networks", "secure_auth", "slow_launch_time",
			"thread_pool_idle_timeout", "thread_pool_max_threads", "thread_pool_oversubscribe", "thread_pool_size", "thread_pool_stall_limit"},
		"BINLOG ADMIN": {"binlog_annotate_row_events", "binlog_cache_size", "binlog_commit_wait_count", "binlog_commit_wait_usec",
			"binlog_direct_non_transactional_updates", "binlog_expire_logs_seconds", "binlog_file_cache_size", "binlog_format",
			"binlog_row_image", "binlog_row_metadata", "binlog_stmt_cache_size", "expire_logs_days", "log_bin_compress",
			"log_bin_compress_min_len", "log_bin_trust_function_creators", "max_binlog_cache_size", "max_binlog_size",
			"max_binlog_stmt_cache_size", "sql_log_bin", "sync_binlog"},
		"REPLICATION MASTER ADMIN": {"gtid_binlog_state", "gtid_domain_id", "master_verify_checksum", "rpl_semi_sync_master_enabled",
			"rpl_semi_sync_master_timeout", "rpl_semi_sync_master_trace_level", "rpl_semi_sync_master_wait_no_slave",
			"rpl_semi_sync_master_wait_point", "server_id"},
		"REPLICATION SLAVE ADMIN": {"gtid_cleanup_batch_size", "gtid_ignore_duplicates", "gtid_pos_auto_engines", "gtid_slave_pos",
			"gtid_strict_mode", "init_slave", "read_binlog_speed_limit", "relay_log_purge", "relay_log_recovery", "replicate_do_db",
			"replicate_do_table", "replicate_events_marked_for_skip", "replicate_ignore_db", "replicate_ignore_table",
			"replicate_wild_do_table", "replicate_wild_ignore_table", "rpl_semi_sync_slave_delay_master", "rpl_semi_sync_slave_enabled",
			"rpl_semi_sync_slave_kill_conn_timeout", "rpl_semi_sync_slave_trace_level", "slave_compressed_protocol",
			"slave_ddl_exec_mode", "slave_domain_parallel_threads", "slave_exec_mode", "slave_max_allowed_packet", "slave_net_timeout",
			"slave_parallel_max_queued", "slave_parallel_mode", "slave_parallel_threads", "slave_parallel_workers",
			"slave_run_triggers_for_rbr", "slave_sql_verify_checksum", "slave_transaction_retry_interval",
			"slave_type_conversions", "sync_master_info", "sync_relay_log", "sync_relay_log_info"},
	} {
		if slices.Contains(names, name) {
			if privilege == "READ_ONLY ADMIN" {
				return []string{privilege, "READ ONLY ADMIN"}
			}
			return []string{privilege, "SUPER"}
		}
	}
	return []string{"SUPER"}
}
