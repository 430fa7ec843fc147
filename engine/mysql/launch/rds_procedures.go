package launch

// rdsGrants are what RDS gives its administrator: neither SUPER, REPLICATION_SLAVE_ADMIN nor SYSTEM_VARIABLES_ADMIN.
var rdsGrants = []string{
	"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "RELOAD", "PROCESS", "REFERENCES", "INDEX", "ALTER", "SHOW DATABASES", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE",
	"REPLICATION SLAVE", "REPLICATION CLIENT", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "CREATE USER", "EVENT", "TRIGGER",
	"APPLICATION_PASSWORD_ADMIN", "ROLE_ADMIN", "SET_ANY_DEFINER", "ALLOW_NONEXISTENT_DEFINER",
}

// rdsProcedures makes the procedures of RDS 8.4 and later by which its administrator replicates, keeps binary logs, works the buffer
// pool's list and ends statements. A server runs them at its start, one line each, and not twice.
func rdsProcedures() []string {
	const (
		to = "CONCAT('CHANGE REPLICATION SOURCE TO SOURCE_HOST = ', QUOTE(host_name), ', SOURCE_PORT = ', host_port, ', SOURCE_USER = ', QUOTE(replication_user_name), ', SOURCE_PASSWORD = ', " +
			"QUOTE(replication_user_password), ', SOURCE_SSL = ', ssl_encryption, ', GET_SOURCE_PUBLIC_KEY = 1, SOURCE_HEARTBEAT_PERIOD = 1, SOURCE_CONNECT_RETRY = 1, "
		at        = "SOURCE_AUTO_POSITION = 0, SOURCE_LOG_FILE = ', QUOTE(mysql_binary_log_file_name), ', SOURCE_LOG_POS = ', mysql_binary_log_file_location"
		auto      = "SOURCE_AUTO_POSITION = 1'"
		host      = "host_name VARCHAR(255), host_port INT, replication_user_name VARCHAR(32), replication_user_password VARCHAR(32), "
		file      = "mysql_binary_log_file_name VARCHAR(255), mysql_binary_log_file_location BIGINT, "
		toChannel = ", ' FOR CHANNEL ', QUOTE(channel_name)"
		channel   = "channel_name VARCHAR(64)"
	)
	procedure := func(name, parameters, body string) string {
		return "CREATE DEFINER = '" + Owner + "'@'%' PROCEDURE IF NOT EXISTS mysql." + name + "(" + parameters + ") SQL SECURITY DEFINER BEGIN " + body + " END"
	}
	run := func(text string) string {
		return "SET @rds = " + text + "; PREPARE s FROM @rds; EXECUTE s; DEALLOCATE PREPARE s; SELECT 'done' AS Message;"
	}
	one := func(text string) string { return run("'" + text + " FOR CHANNEL \\'\\''") }
	named := func(text string) string { return run("CONCAT('" + text + " FOR CHANNEL ', QUOTE(channel_name))") }
	on := func(variable string) string { return "SET GLOBAL " + variable + " = ON;" }
	return []string{
		"CREATE TABLE IF NOT EXISTS mysql.rds_configuration (name VARCHAR(100) PRIMARY KEY, value VARCHAR(100))",
		"INSERT IGNORE INTO mysql.rds_configuration VALUES ('binlog retention hours', NULL)",
		procedure("rds_set_configuration", "name_of VARCHAR(30), value_of INT", "SET SESSION sql_log_bin = 0; UPDATE mysql.rds_configuration SET value = value_of WHERE name = name_of; SET SESSION sql_log_bin = 1;"),
		procedure("rds_show_configuration", "", "SELECT name, value FROM mysql.rds_configuration;"),
		procedure("rds_set_external_source", host+file+"ssl_encryption TINYINT", run(to+at+")")),
		procedure("rds_set_external_source_with_auto_position", host+"ssl_encryption TINYINT, delay INT", run(to+auto+")")),
		procedure("rds_set_external_source_for_channel", host+file+"ssl_encryption TINYINT, "+channel, run(to+at+toChannel+")")),
		procedure("rds_start_replication", "", one("START REPLICA")),
		procedure("rds_stop_replication", "", one("STOP REPLICA")),
		procedure("rds_reset_external_source", "", one("RESET REPLICA ALL")),
		procedure("rds_start_replication_for_channel", channel, named("START REPLICA")),
		procedure("rds_stop_replication_for_channel", channel, named("STOP REPLICA")),
		procedure("rds_reset_external_source_for_channel", channel, named("RESET REPLICA ALL")),
		procedure("rds_innodb_buffer_pool_dump_now", "", on("innodb_buffer_pool_dump_now")),
		procedure("rds_innodb_buffer_pool_load_now", "", on("innodb_buffer_pool_load_now")),
		procedure("rds_innodb_buffer_pool_load_abort", "", on("innodb_buffer_pool_load_abort")),
		procedure("rds_kill", "thread BIGINT", "KILL thread;"),
		procedure("rds_kill_query", "thread BIGINT", "KILL QUERY thread;"),
	}
}
