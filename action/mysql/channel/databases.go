package channel

import (
	"context"

	"plimsoll/engine/mysql/admin"
)

// systemDatabases are the server's own.
var systemDatabases = []string{"mysql", "sys", "information_schema", "performance_schema"}

// seedDatabase is where Plimsoll keeps tables of its own, beside those of a trial.
const seedDatabase = "plimsoll"

// ownTables are Plimsoll's: they say something of their server, and differ from those of another.
var ownTables = []string{seedDatabase + ".claim", seedDatabase + ".seed"}

// databases are those that hold a person's data.
func (s *server) databases(ctx context.Context) ([]string, error) {
	rows, err := s.rows(ctx, "SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name NOT IN ("+
		admin.Texts(systemDatabases)+") AND (schema_name <> "+admin.Text(seedDatabase)+" OR EXISTS (SELECT 1 FROM information_schema.tables "+
		"WHERE table_schema = "+admin.Text(seedDatabase)+" AND CONCAT(table_schema, '.', table_name) NOT IN ("+admin.Texts(ownTables)+
		"))) ORDER BY schema_name")
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = row["name"]
	}
	return all, err
}

func schemaList(databases []string) string { return "(" + admin.Texts(databases) + ")" }
