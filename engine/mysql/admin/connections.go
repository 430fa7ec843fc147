package admin

// clients are transactions and connections that are a client's, not this one, those of replication and the server's own.
const clients = `id != CONNECTION_ID() AND user NOT IN ('system user', 'event_scheduler') AND command NOT LIKE 'Binlog Dump%'
	AND command NOT IN ('Daemon', 'Connect', 'Slave_IO', 'Slave_SQL', 'Slave_worker')`

const (
	// Connection is a query for the number of the connection that asks.
	Connection = "SELECT CONNECTION_ID()"
	// Clients is a query for the numbers of clients' connections.
	Clients = "SELECT id FROM information_schema.processlist WHERE " + clients
	// ClientsButSetters leaves out those that set a global variable just now.
	// ClientsButSetters leaves out Plimsoll's own connection too, which has the order lock or waits for it.
	ClientsButSetters = Clients + " AND (info IS NULL OR info NOT LIKE 'SET GLOBAL%' AND info NOT LIKE 'SELECT GET_LOCK(''" + OrderLock + "''%') AND NOT (id <=> IS_USED_LOCK('" + OrderLock + "'))"
	// ClosingToWrites is a query for how many connections are setting read_only or super_read_only.
	ClosingToWrites = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SET GLOBAL%read_only%' AND id != CONNECTION_ID()"
	// OpenTransactions is a query for clients' open transactions, each with its connection and its beginning: the number of one that has
	// not written is made up, and used again by the next one.
	OpenTransactions = "SELECT CONCAT_WS(' ', trx_mysql_thread_id, trx_id, trx_started) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id IN (" + Clients + ")"
	// TransactionSeconds is an expression for how long a transaction of information_schema.INNODB_TRX, as t, is open. Its beginning is in the
	// time zone of the server's machine, and NOW() in the session's.
	TransactionSeconds = "TIMESTAMPDIFF(SECOND, t.trx_started, CONVERT_TZ(NOW(), @@session.time_zone, 'SYSTEM'))"
	// Dumps is a query for the connections by which replicas read the server's binary log.
	Dumps = "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'"
)

// Kill ends a connection.
func Kill(id string) string { return "KILL " + id }

// NoConnection is the code of the error that there is no connection of that number (any more).
const NoConnection = "1094"

// PassesReadOnly is a query for the users, as who, that are connected to a MariaDB and may write while it is read only. MySQL's
// super_read_only holds everybody.
func PassesReadOnly(v Version) string {
	return "SELECT p.user AS who, u.grantee AS grantee, GROUP_CONCAT(DISTINCT u.privilege_type SEPARATOR ', ') AS rights FROM information_schema.processlist p JOIN information_schema.user_privileges u " +
		"ON u.grantee LIKE CONCAT('''', p.user, '''@%') WHERE " + mayPassReadOnly(v) + " AND p.user <> SUBSTRING_INDEX(USER(), '@', 1) AND p.command NOT LIKE 'Binlog Dump%' GROUP BY p.user, u.grantee"
}

// superAlone is the first MariaDB on which SUPER is not enough to write on a read-only server.
var superAlone = Version{10, 11, 0}

// mayPassReadOnly is a condition for the privileges, of information_schema.user_privileges as u, with which a MariaDB that is read-only is written to.
func mayPassReadOnly(v Version) string {
	if v.Less(superAlone) {
		return "u.privilege_type IN ('READ_ONLY ADMIN', 'SUPER')"
	}
	return "u.privilege_type = 'READ_ONLY ADMIN'"
}
