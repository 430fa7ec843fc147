// Package admin writes the SQL by which MySQL, MariaDB and MySQL on RDS are administered, one place per statement, and reads what they
// answer: replication, binary logs, read-only mode, variables, users, connections. It sends nothing: who has a session does.
package admin

import (
	"slices"

	"plimsoll/engine"
)

// IsTLSOnly tells whether a server is spoken to by TLS alone, and so by those that follow it.
func IsTLSOnly(t engine.Target) bool {
	switch t.Options["tls"] {
	case "required", "verify-ca", "verify":
		return true
	}
	return false
}

// Unlogged are statements of which one holds a secret: the server keeps them out of its general and slow logs.
func Unlogged(statements ...string) []string {
	return slices.Concat([]string{"SET SESSION sql_log_off = 1", "SET SESSION long_query_time = 1000000"}, statements,
		[]string{"SET SESSION sql_log_off = DEFAULT", "SET SESSION long_query_time = DEFAULT"})
}
