package cql_test

import (
	"testing"

	"plimsoll/engine/cql"
	"plimsoll/engine/enginetest"
	"plimsoll/internal/labtest"
)

func conformance(t *testing.T, db labtest.Server) {
	// What stands between client and server in a part of the tests has an address that no node knows of: nothing is
	// discovered.
	db.Target.Addresses, db.Target.Options = db.Target.Addresses[:1], map[string]string{"discover": "off"}
	enginetest.Run(t, enginetest.Harness{
		Engine: cql.Engine{}, Target: db.Target, Database: db.Database,
		Texts: enginetest.Texts{
			Create:  "CREATE TABLE conformance (id bigint PRIMARY KEY, n bigint, f double, s text, b blob)",
			Drop:    "DROP TABLE IF EXISTS conformance",
			Insert:  "INSERT INTO conformance (id, n, f, s, b) VALUES (?, ?, ?, ?, ?)",
			Select:  "SELECT n, f, s, b FROM conformance WHERE id = ?",
			All:     "SELECT id FROM conformance",
			Missing: "SELECT * FROM no_such_table",
		},
		Setting: enginetest.Setting{
			Name: "concurrent_reads", Typo: "concurent_reads", Fixed: "num_tokens", FixedValue: "8",
		},
		RecordTable: "Records_of_Conformance",
		Allocations: 60,
	})
}

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real server")
	}
	conformance(t, labtest.Up(t, "cassandra"))
}
