package channel

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine/mysql/admin"
)

// table is what must be known of a table to copy or compare its rows.
type table struct {
	schema, name string
	columns      []column // those that hold data: what is generated follows from them
	key          []string // columns by which its rows are told apart; none: they cannot be
	rows         int64    // as the server estimates
}

type column struct {
	name string
	kind string // data_type
	full string // column_type, without what only says how it is shown
}

func (t table) String() string { return t.schema + "." + t.name }

func (t table) quoted() string { return admin.Name(t.schema) + "." + admin.Name(t.name) }

func (t table) columnNames() []string {
	all := make([]string, len(t.columns))
	for i, c := range t.columns {
		all[i] = c.name
	}
	return all
}

// tables are the base tables of some databases, in order.
func (s *server) tables(ctx context.Context, databases []string) ([]table, error) {
	if len(databases) == 0 {
		return nil, nil
	}
	rows, err := s.rows(ctx, "SELECT table_schema AS s, table_name AS t, table_rows AS n FROM information_schema.tables "+
		"WHERE table_type = 'BASE TABLE' AND table_schema IN "+schemaList(databases)+" ORDER BY table_schema, table_name")
	if err != nil {
		return nil, err
	}
	var all []table
	for _, row := range rows {
		t := table{schema: row["s"], name: row["t"]}
		if slices.Contains(ownTables, t.String()) {
			continue
		}
		t.rows, _ = strconv.ParseInt(row["n"], 10, 64)
		all = append(all, t)
	}
	if err := describeTables(ctx, s, databases, all); err != nil {
		return nil, err
	}
	return all, readKeys(ctx, s, databases, all)
}

// displayWidth is how wide an integer is shown, which later versions no longer say.
var displayWidth = regexp.MustCompile(`^((?:tiny|small|medium|big)?int)\(\d+\)`)

func describeTables(ctx context.Context, s *server, databases []string, tables []table) error {
	rows, err := s.rows(ctx, "SELECT table_schema AS s, table_name AS t, column_name AS c, data_type AS k, column_type AS f, extra AS e "+
		"FROM information_schema.columns WHERE table_schema IN "+schemaList(databases)+" ORDER BY table_schema, table_name, ordinal_position")
	if err != nil {
		return err
	}
	for _, row := range rows {
		t := find(tables, row["s"], row["t"])
		if extra := strings.ToUpper(row["e"]); t == nil || strings.Contains(extra, "VIRTUAL GENERATED") || strings.Contains(extra, "STORED GENERATED") || strings.Contains(extra, "PERSISTENT") {
			continue
		}
		t.columns = append(t.columns, column{row["c"], strings.ToLower(row["k"]), displayWidth.ReplaceAllString(strings.ToLower(row["f"]), "$1")})
	}
	return nil
}

// readKeys finds for each table the primary key, else another unique index of whole columns that are never NULL.
func readKeys(ctx context.Context, s *server, databases []string, tables []table) error {
	rows, err := s.rows(ctx, "SELECT table_schema AS s, table_name AS t, index_name AS i, column_name AS c, sub_part AS p, nullable AS o "+
		"FROM information_schema.statistics WHERE non_unique = 0 AND table_schema IN "+schemaList(databases)+
		" ORDER BY table_schema, table_name, index_name <> 'PRIMARY', index_name, seq_in_index")
	if err != nil {
		return err
	}
	type index struct{ schema, table, name string }
	parts, unfit := map[index][]string{}, map[index]bool{}
	var order []index
	for _, row := range rows {
		i := index{row["s"], row["t"], row["i"]}
		if parts[i] == nil && !unfit[i] {
			order = append(order, i)
		}
		_, prefix := row["p"]
		if row["c"] == "" || prefix || row["o"] == "YES" {
			unfit[i] = true
		}
		parts[i] = append(parts[i], row["c"])
	}
	for _, i := range order {
		if t := find(tables, i.schema, i.table); t != nil && t.key == nil && !unfit[i] && t.has(parts[i]) {
			t.key = parts[i]
		}
	}
	return nil
}

// has tells whether all of some columns hold data.
func (t table) has(columns []string) bool {
	known := t.columnNames()
	return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(known, c) })
}

func find(tables []table, schema, name string) *table {
	for i := range tables {
		if tables[i].schema == schema && tables[i].name == name {
			return &tables[i]
		}
	}
	return nil
}

// differs says in what a table's columns differ from another's; "" if in nothing.
func (t table) differs(other table) string {
	if len(t.columns) != len(other.columns) {
		return fmt.Sprintf("%d columns and %d", len(t.columns), len(other.columns))
	}
	for i, c := range t.columns {
		if c != other.columns[i] {
			return fmt.Sprintf("column %s %s and %s %s", c.name, c.full, other.columns[i].name, other.columns[i].full)
		}
	}
	return ""
}
