package singlestore

import (
	"fmt"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
)

var (
	_ engine.Relational = Engine{}
	_ engine.KeyValue   = Engine{}
)

// Quote writes a name in backticks, as MySQL does.
func (Engine) Quote(name string) string { return mysql.Engine{}.Quote(name) }

// OrCount is MySQL's.
func (Engine) OrCount(table, column string, key ...string) string {
	return mysql.Engine{}.OrCount(table, column, key...)
}

// RecordTable states MySQL's table of records without the character set, which not every version knows; the key is the shard
// key too.
func (Engine) RecordTable(table string, fields int) engine.RecordStatements {
	statements := mysql.Engine{}.RecordTable(table, fields)
	var columns strings.Builder
	for i := range fields {
		fmt.Fprintf(&columns, ", field%d TEXT", i)
	}
	statements.Create = "CREATE TABLE " + Engine{}.Quote(table) + " (ycsb_key VARCHAR(255) NOT NULL" + columns.String() +
		", PRIMARY KEY (ycsb_key), SHARD KEY (ycsb_key))"
	return statements
}
