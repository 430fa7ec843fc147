package admin

import (
	"fmt"
	"time"
)

// Global is a query for a global variable that the server is known to have.
func Global(name string) string { return "SELECT @@GLOBAL." + name }

// Variables is a query for those of some global variables that the server has, as Variable_name and Value; of all without names.
func Variables(names ...string) string { return show("VARIABLES", names) }

// Status is such a query for counters.
func Status(names ...string) string { return show("STATUS", names) }

func show(what string, names []string) string {
	if len(names) == 0 {
		return "SHOW GLOBAL " + what
	}
	return "SHOW GLOBAL " + what + " WHERE Variable_name IN (" + Texts(names) + ")"
}

// SetGlobal sets a global variable, by its literal.
func SetGlobal(name, literal string) string { return "SET GLOBAL " + name + " = " + literal }

// Persist keeps a value for after a restart and leaves the one in force alone: MySQL from 8.0.
func Persist(name, literal string) string { return "SET PERSIST_ONLY " + Name(name) + " = " + literal }

// Unpersist forgets a value that is kept. That there is none is fine.
func Unpersist(name string) string { return "RESET PERSIST IF EXISTS " + Name(name) }

// Persisted is a query for the value that is kept; no row for none.
func Persisted(name string) string {
	return "SELECT variable_value FROM performance_schema.persisted_variables WHERE variable_name = " + Text(name)
}

// LoadsPersisted is a query for whether a server takes the values that are kept when it starts (persisted_globals_load, MySQL from 8.0). One that does
// not ignores them, and only its option file and its command line decide.
const LoadsPersisted = "SELECT @@GLOBAL.persisted_globals_load"

// ReadOnlyOrigin is a query for where MariaDB's read_only in force comes from: CONFIG, COMMAND-LINE, SQL and others. It is not told what an option file says
// that somebody has overridden since.
const ReadOnlyOrigin = "SELECT global_value_origin AS origin FROM information_schema.system_variables WHERE variable_name = 'READ_ONLY'"

// ReadOnlySources is a query for where MySQL's variables that refuse writes come from (COMPILED, GLOBAL, EXPLICIT, DYNAMIC and others), their values, and
// what is persisted of each.
const ReadOnlySources = "SELECT LOWER(i.variable_name) AS name, i.variable_source AS source, g.variable_value AS value, p.variable_value AS persisted " +
	"FROM performance_schema.variables_info i JOIN performance_schema.global_variables g USING (variable_name) LEFT JOIN performance_schema.persisted_variables p USING (variable_name) " +
	"WHERE variable_name IN ('read_only', 'super_read_only')"

// LockHolder is a query for the connection that has a lock of the server's own (GET_LOCK); NULL for none.
func LockHolder(lock string) string { return "SELECT IS_USED_LOCK(" + Text(lock) + ")" }

// In is a query for the time, by the server's own clock, so long from now.
func In(d time.Duration) string {
	return fmt.Sprintf("SELECT UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND", d.Microseconds())
}

// SetGlobalWhile sets a global variable as long as the same connection has a lock as when LockHolder said so, and a time that In gave has not
// come; else it is void. The server judges that and sets it in one. A statement that lies in the socket of a server that hangs is executed
// when it goes on, however long whoever sent it is gone: then it is too late, whatever the server has become meanwhile.
func SetGlobalWhile(lock, holder, until, name, literal string) string {
	return SetGlobal(name, "IF(IS_USED_LOCK("+Text(lock)+") <=> "+holder+" AND UTC_TIMESTAMP(6) < "+Text(until)+", "+literal+", "+noValue+")")
}

// noValue is none of any variable with few values: the server refuses it, with the code of Void, and leaves the variable as it is. Its own value
// would not do: read a moment before another session changes it, it would be put back.
const noValue = "99"

// Void is the code of the error with which a server refuses a statement of SetGlobalWhile that came too late (ER_WRONG_VALUE_FOR_VAR).
const Void = "1231"

// OwnDefaults makes a session give all rows and commit each statement, whatever the server's values for new sessions are.
const OwnDefaults = "SET SESSION sql_select_limit = 18446744073709551615, SESSION autocommit = 1"
