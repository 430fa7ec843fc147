package mysql

import (
	"fmt"
	"strings"

	"plimsoll/engine"
)

var _ engine.KeyValue = Engine{}

// RecordTable states a table of records with the columns of YCSB's own: ycsb_key, field0, field1, …
func (e Engine) RecordTable(table string, fields int) engine.RecordStatements {
	table = e.Quote(table)
	columns, names := "", "ycsb_key"
	for i := range fields {
		columns += fmt.Sprintf(", field%d TEXT", i)
		names += fmt.Sprintf(", field%d", i)
	}
	row := "(?" + strings.Repeat(", ?", fields) + ")"
	insert := "INSERT INTO " + table + " (" + names + ") VALUES " + row
	return engine.RecordStatements{
		Create:     "CREATE TABLE " + table + " (ycsb_key VARCHAR(255) NOT NULL PRIMARY KEY" + columns + ") CHARACTER SET utf8mb4",
		Drop:       "DROP TABLE IF EXISTS " + table,
		Insert:     insert,
		InsertMany: func(rows int) string { return insert + strings.Repeat(", "+row, rows-1) },
		Read:       "SELECT " + names + " FROM " + table + " WHERE ycsb_key = ?",
		Update: func(field int) string {
			return fmt.Sprintf("UPDATE %s SET field%d = ? WHERE ycsb_key = ?", table, field)
		},
		Scan: "SELECT " + names + " FROM " + table + " WHERE ycsb_key >= ? ORDER BY ycsb_key LIMIT ?",
	}
}
