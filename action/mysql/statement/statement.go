// Package statement writes what the statements of all actions for MySQL and MariaDB are made of.
package statement

import (
	"slices"
	"strings"

	"plimsoll/engine"
)

// Text writes a text as an SQL literal.
func Text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// Encrypted tells whether a server is spoken to by TLS alone, and so by those that follow it.
func Encrypted(t engine.Target) bool {
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
