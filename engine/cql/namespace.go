package cql

import (
	"context"
	"fmt"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

var (
	_ engine.Namespaced = (*database)(nil)
	_ engine.KeyValue   = Engine{}
)

// enoughReplicas is how many copies the keyspaces have that are made here, where there are as many nodes.
const enoughReplicas = 3

// MakeNamespace makes a keyspace, as CQL calls it, with three replicas in each data centre, or as many as the smallest of
// them has nodes.
func (d *database) MakeNamespace(ctx context.Context, name string) error {
	known, err := d.control.look(ctx)
	if err != nil {
		return err
	}
	replicas := enoughReplicas
	for _, nodes := range known.nodes {
		replicas = min(replicas, nodes)
	}
	var replication strings.Builder
	for dc := range known.nodes {
		fmt.Fprintf(&replication, ", %s: %d", quote(dc), replicas)
	}
	err = d.control.use(ctx, anyNode, func(s *gocql.Session) error {
		return s.Query("CREATE KEYSPACE IF NOT EXISTS " + quoteName(name) +
			" WITH replication = {'class': 'NetworkTopologyStrategy'" + replication.String() + "}").ExecContext(ctx)
	})
	if err != nil {
		return fmt.Errorf("create keyspace %s: %w", name, err)
	}
	return nil
}

// quote writes a text as a literal of CQL.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// quoteName writes a name so that it is taken as a name, in its case. CQL has only letters, digits and _ in names.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// RecordTable states a table of records with the columns of YCSB's own: y_id, field0, field1, … A scan takes the records
// that follow in the order of their tokens, as there is no other order of partitions.
func (Engine) RecordTable(table string, fields int) engine.RecordStatements {
	table = quoteName(table)
	columns, names := "", "y_id"
	for i := range fields {
		columns += fmt.Sprintf(", field%d text", i)
		names += fmt.Sprintf(", field%d", i)
	}
	return engine.RecordStatements{
		Create: "CREATE TABLE " + table + " (y_id text PRIMARY KEY" + columns + ")",
		Drop:   "DROP TABLE IF EXISTS " + table,
		Insert: "INSERT INTO " + table + " (" + names + ") VALUES (?" + strings.Repeat(", ?", fields) + ")",
		Read:   "SELECT " + names + " FROM " + table + " WHERE y_id = ?",
		Update: func(field int) string { return fmt.Sprintf("UPDATE %s SET field%d = ? WHERE y_id = ?", table, field) },
		Scan:   "SELECT " + names + " FROM " + table + " WHERE token(y_id) >= token(?) LIMIT ?",
	}
}
