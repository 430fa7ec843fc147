package channel

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
)

// No RDS was there to be asked. These are real MySQL servers dressed as one: an administrator without the rights to replicate, and the
// procedures of RDS, as its documentation has them, by which he may.

// dressed is a world in which some nodes are RDS.
func (w world) dressed(nodes ...string) world {
	w.Helper()
	for _, node := range nodes {
		w.do(node, append([]string{"SET SESSION sql_log_bin = 0"}, rdsProcedures()...)...)
		w.do(node, "SET SESSION sql_log_bin = 0", "CREATE USER master IDENTIFIED BY 'm'", "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, REFERENCES, INDEX, ALTER, SHOW DATABASES, CREATE TEMPORARY TABLES, "+
			"LOCK TABLES, EXECUTE, REPLICATION SLAVE, REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, CREATE USER, EVENT, TRIGGER, SET_ANY_DEFINER, ALLOW_NONEXISTENT_DEFINER ON *.* TO master",
			"SET GLOBAL log_bin_trust_function_creators = ON")
	}
	inner := w.site.List
	list := func(ctx context.Context) ([]cluster.Node, error) {
		all, err := inner(ctx)
		for i, n := range all {
			for _, node := range nodes {
				if n.Name == node {
					all[i].Target.User, all[i].Target.Password = "master", "m"
					all[i].Machine, all[i].Server = nil, nil
				}
			}
		}
		return all, err
	}
	site := &cluster.Cluster{Name: w.site.Name, Environment: w.site.Environment, Engine: w.site.Engine, Local: w.site.Local, Made: w.site.Made, List: list}
	site.AskRoles()
	w.Cleanup(func() { _ = site.Close() })
	return world{w.T, site}
}

func rdsProcedures() []string {
	procedure := func(name, parameters, body string) string {
		return "CREATE DEFINER = CURRENT_USER PROCEDURE mysql." + name + "(" + parameters + ") SQL SECURITY DEFINER BEGIN " + body + " END"
	}
	run := func(concat string) string {
		return "SET @rds = " + concat + "; PREPARE s FROM @rds; EXECUTE s; DEALLOCATE PREPARE s; SELECT 'done' AS Message;"
	}
	const to = "CONCAT('CHANGE REPLICATION SOURCE TO SOURCE_HOST = ', QUOTE(host_name), ', SOURCE_PORT = ', host_port, ', SOURCE_USER = ', QUOTE(replication_user_name), ', SOURCE_PASSWORD = ', " +
		"QUOTE(replication_user_password), ', SOURCE_SSL = ', ssl_encryption, ', GET_SOURCE_PUBLIC_KEY = 1, SOURCE_HEARTBEAT_PERIOD = 1, SOURCE_CONNECT_RETRY = 1, "
	const at = "SOURCE_AUTO_POSITION = 0, SOURCE_LOG_FILE = ', QUOTE(mysql_binary_log_file_name), ', SOURCE_LOG_POS = ', mysql_binary_log_file_location"
	const auto = "SOURCE_AUTO_POSITION = 1'"
	const host = "host_name VARCHAR(255), host_port INT, replication_user_name VARCHAR(32), replication_user_password VARCHAR(32), "
	const file = "mysql_binary_log_file_name VARCHAR(255), mysql_binary_log_file_location BIGINT, "
	const channel = ", ' FOR CHANNEL ', QUOTE(channel_name))"
	return []string{
		"CREATE TABLE IF NOT EXISTS mysql.rds_configuration (name VARCHAR(100) PRIMARY KEY, value VARCHAR(100))", "REPLACE INTO mysql.rds_configuration VALUES ('binlog retention hours', NULL)",
		procedure("rds_set_configuration", "name_of VARCHAR(30), value_of INT", "SET SESSION sql_log_bin = 0; UPDATE mysql.rds_configuration SET value = value_of WHERE name = name_of; SET SESSION sql_log_bin = 1;"),
		procedure("rds_set_external_source", host+file+"ssl_encryption TINYINT", run(to+at+")")),
		procedure("rds_set_external_source_with_auto_position", host+"ssl_encryption TINYINT, delay INT", run(to+auto+")")),
		procedure("rds_set_external_source_for_channel", host+file+"ssl_encryption TINYINT, channel_name VARCHAR(64)", run(to+at+channel)),
		procedure("rds_start_replication", "", run("'START REPLICA FOR CHANNEL \\'\\''")),
		procedure("rds_stop_replication", "", run("'STOP REPLICA FOR CHANNEL \\'\\''")),
		procedure("rds_reset_external_source", "", run("'RESET REPLICA ALL FOR CHANNEL \\'\\''")),
		procedure("rds_start_replication_for_channel", "channel_name VARCHAR(64)", run("CONCAT('START REPLICA FOR CHANNEL ', QUOTE(channel_name))")),
		procedure("rds_stop_replication_for_channel", "channel_name VARCHAR(64)", run("CONCAT('STOP REPLICA FOR CHANNEL ', QUOTE(channel_name))")),
		procedure("rds_reset_external_source_for_channel", "channel_name VARCHAR(64)", run("CONCAT('RESET REPLICA ALL FOR CHANNEL ', QUOTE(channel_name))")),
	}
}

func TestRDSFollowsByItsProcedures(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	w := newWorld(t, "mysql", 3)
	w.fill("n1", "app1")
	w.do("n1", "CREATE USER owner IDENTIFIED BY 'o'", "GRANT SELECT ON app1.* TO owner", "ALTER DEFINER = owner VIEW app1.seen AS SELECT id, v FROM app1.many WHERE k < 10")
	w.act(restoreSnapshot, attachN2) // as RDS restores a snapshot
	r := w.dressed("n2", "n3")
	if text := r.value("n2", "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'"); !strings.Contains(text, "denied") {
		t.Fatalf("its administrator may do what RDS's may not: %s", text)
	}
	ws := w.write("app1", "n1")
	r.sub("keep-binlogs", func(r world) {
		hours := r.snapshot("n2: SELECT value FROM mysql.rds_configuration")
		r.conform(keepBinlogs, `{node: n2, for: 30h}`, hours)
		r.act(keepBinlogs, `{node: n2, for: 90m}`)
		if text := hours(r.T); !strings.Contains(text, "= 2\n") {
			r.Errorf("an hour and a half are %s", text)
		}
		r.conform(releaseBinlogs, `{node: n2, seconds: 0}`, hours)
	})
	r.sub("external replica", func(r world) {
		r.conform(attach, attachN2, r.channels("n2"), 0, 20*time.Millisecond, 100*time.Millisecond)
		r.act(attach, attachN2)
		r.act(compareRows, `{source: n1, node: n2, chunk: 600, hold: 5m}`)
		if text := r.channels("n2")(r.T); !strings.Contains(text, "runs true") || !strings.Contains(text, "gtid true") {
			r.Errorf("by GTID: %s", text)
		}
		r.undo(attach, attachN2)
		if text := r.channels("n2")(r.T); strings.Contains(text, "from") {
			r.Errorf("it still follows: %s", text)
		}
	})
	r.sub("multi-source", func(r world) {
		r.looks(checkSources, `{sources: ["n1:app1"], node: n3}`, r.snapshot("n3: SELECT COUNT(*) FROM information_schema.tables"))
		r.act(seed, `{source: n1, node: n3, databases: [app1]}`)
		const with = `{source: n1, node: n3, name: first, databases: [app1]}`
		w.do("n1", "CREATE DATABASE elsewhere")
		if _, err := r.task(addChannel, with).Act(r.Context(), r.site, call(action.CheckResult{})); err == nil || !strings.Contains(err.Error(), "also has a database elsewhere") {
			r.Errorf("what no parameter filters would come through: %v", err)
		}
		w.do("n1", "DROP DATABASE elsewhere")
		r.act(seed, `{source: n1, node: n3, databases: [app1]}`)
		r.conform(addChannel, with, r.channels("n3"), 0, 20*time.Millisecond, 100*time.Millisecond)
		r.act(addChannel, with)
		r.act(compareRows, `{source: n1, node: n3, chunk: 5000, hold: 5m}`)
	})
	w.do("n3", "SET GLOBAL general_log = ON")
	r.undo(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`)
	if _, err := r.task(addChannel, `{source: n1, node: n3, name: first, databases: [app1]}`).Act(r.Context(), r.site, call(action.CheckResult{})); err == nil || !strings.Contains(err.Error(), "general log") {
		r.Errorf("a password in a log: %v", err)
	}
	ws.end()
}
