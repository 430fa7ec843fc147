package collect

import "strings"

// ClassOfEvent is the class of wait of an event of the performance schema; "" of one that holds others within it (the handler's
// I/O on tables) or that is no wait of a session.
func ClassOfEvent(name string) string {
	for _, c := range eventClasses {
		if strings.HasPrefix(name, c.prefix) {
			return c.class
		}
	}
	return ""
}

// eventClasses: the longer prefix before what it begins with.
var eventClasses = []struct{ prefix, class string }{
	{"wait/io/file/innodb/innodb_log_file", "redo"},
	{"wait/io/file/sql/binlog", "binlog"},
	{"wait/io/aurora_redo_log_flush", "redo"},
	{"wait/io/redo_log_flush", "redo"},
	{"wait/io/aurora_respond_to_client", "network"},
	{"wait/io/file/", "read"},
	{"wait/io/socket/sql/client_connection", "network"},
	{"wait/io/table/", ""},
	{"wait/io/lock/table/", "table lock"},
	{"wait/lock/", "table lock"},
	{"wait/synch/cond/semisync/", "semi-sync"},
	{"wait/synch/cond/sql/MYSQL_BIN_LOG", "binlog"},
	{"wait/synch/mutex/sql/MYSQL_BIN_LOG", "binlog"},
	{"wait/synch/cond/sql/MDL_context", "table lock"},
	{"wait/synch/cond/innodb/commit_cond", "commit"},
	{"wait/synch/", "latch"},
}

// stateClasses are what the servers write as the state of a session that waits, in lower case, by its beginning. A session in any
// other state is on the CPU, or in a wait that the server does not show.
var stateClasses = []struct{ prefix, class string }{
	{"commit", "commit"}, // MariaDB
	{"waiting for handler commit", "commit"},
	{"waiting for prior transaction to", "commit"},
	{"waiting for binlog", "commit"},
	{"waiting for group commit", "commit"},
	{"waiting for semi-sync ack", "semi-sync"},
	{"waiting for table metadata lock", "table lock"},
	{"waiting for table level lock", "table lock"},
	{"waiting for table flush", "table lock"},
	{"waiting for global read lock", "table lock"},
	{"waiting for backup lock", "table lock"},
	{"waiting for schema metadata lock", "table lock"},
	{"waiting for stored", "table lock"},
	{"waiting for trigger metadata lock", "table lock"},
	{"user lock", "other"},
	{"user sleep", "other"},
	{"sending to client", "network"},
	{"writing to net", "network"},
	{"reading from net", "network"},
	{"receiving from client", "network"},
	{"waiting for row lock", "row lock"},
}

func classOfState(state string) string {
	state = strings.ToLower(state)
	for _, c := range stateClasses {
		if strings.HasPrefix(state, c.prefix) {
			return c.class
		}
	}
	return "cpu"
}
