package mysql_test

import (
	"testing"

	"plimsoll/engine/enginetest"
	"plimsoll/internal/labtest"
)

func TestConformance(t *testing.T) {
	labtest.EachAlone(t, func(t *testing.T, db labtest.Server) {
		enginetest.Run(t, enginetest.Harness{
			Engine: db.Engine, Target: db.Target, Database: db.Database,
			Texts: enginetest.Texts{
				Create:    "CREATE TABLE conformance (id BIGINT PRIMARY KEY, n BIGINT, f DOUBLE, s LONGTEXT, b LONGBLOB) CHARACTER SET utf8mb4",
				Drop:      "DROP TABLE IF EXISTS conformance",
				Insert:    "INSERT INTO conformance (id, n, f, s, b) VALUES (?, ?, ?, ?, ?)",
				Select:    "SELECT n, f, s, b FROM conformance WHERE id = ?",
				All:       "SELECT id FROM conformance",
				Missing:   "SELECT * FROM no_such_table",
				Duplicate: "INSERT INTO conformance (id) VALUES (1)",
			},
			Waiting: enginetest.Waiting{Hold: "SELECT GET_LOCK('conformance', 0)", Wait: "SELECT GET_LOCK('conformance', 600)"},
			Setting: enginetest.Setting{
				Name: "max_heap_table_size", Value: "32M", Same: "33554432", Other: "16M", Typo: "max_heap_tabel_size",
				Fixed: "innodb_page_size", FixedValue: "8k",
			},
		})
	})
}
