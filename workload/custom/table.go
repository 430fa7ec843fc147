package custom

import (
	"regexp"
	"strings"
	"time"

	"plimsoll/internal/document"
	"plimsoll/workload"
)

// tableKeys are what a table is written with.
type tableKeys struct {
	Rows    int64          `yaml:"rows" doc:"how many rows to load; default 0"`
	Columns *document.Node `yaml:"columns,required" doc:"the columns, by name: TYPE = GENERATOR, or only TYPE for columns that the database fills"`
	Key     key            `yaml:"key" doc:"the column or columns of the primary key; [[a, b], c] for Cassandra is a partition key of a and b, and rows in the order of c"`
	Indexes []names        `yaml:"indexes" doc:"secondary indexes, each a column or a list of columns, created after the rows are loaded"`
	Unique  []names        `yaml:"unique" doc:"unique indexes, in the same form"`
	Options string         `yaml:"options" doc:"table options at the end of CREATE TABLE, in the engine's syntax"`
}

// table is one table of the file.
type table struct {
	tableKeys
	at      *document.Node // its name
	name    string
	columns []*column

	sequence string         // the column that numbers its rows, if there is one
	first    int64          // number of its first row
	picked   *document.Node // where its rows are picked by number, if they are
	keys     *workload.Keys // of the data, as Prepare made or Adopt found it
	rows     int64
	asked    *document.Node // where the load asked for so many rows
	quote    func(string) string
	single   bool // a statement inserts one row only
	foreign  bool // somebody else makes it: over HTTP there is no CREATE TABLE
}

var validName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func readTables(n *document.Node, now func() time.Time, ps *document.Problems) []*table {
	if n == nil {
		return nil
	}
	if n.Kind != document.Mapping {
		ps.Add(n, n.Errorf("%s, expected tables by their names", n.Kind))
		return nil
	}
	var tables []*table
	for _, e := range n.Entries {
		t := &table{at: e.At, name: e.Key, first: 1}
		if !validName.MatchString(e.Key) {
			ps.Add(e.At, e.At.Errorf("table %q, expected a name of letters, digits and _", e.Key))
		}
		if err := e.Value.Decode(&t.tableKeys); err != nil {
			ps.Add(e.Value, err)
			continue
		}
		if t.rows = t.Rows; t.rows < 0 {
			ps.Add(e.Value, e.Value.Get("rows").Errorf("%d rows", t.rows))
		}
		tables = append(tables, t)
	}
	if len(*ps) > 0 {
		return tables
	}
	// Columns that number rows come first: others pick rows by their numbers.
	for _, sequences := range []bool{true, false} {
		for _, t := range tables {
			t.readColumns(scope{tables: tables, own: t, now: now}, sequences, ps)
		}
	}
	for _, t := range tables {
		t.checkNames(ps)
	}
	return tables
}

func (t *table) readColumns(s scope, sequences bool, ps *document.Problems) {
	if t.Columns.Kind != document.Mapping || len(t.Columns.Entries) == 0 {
		if sequences {
			ps.Add(t.Columns, t.Columns.Errorf("%s, expected columns by their names", t.Columns.Kind))
		}
		return
	}
	for _, e := range t.Columns.Entries {
		c := &column{at: e.At, name: e.Key}
		if sequences {
			t.columns = append(t.columns, c)
			if !validName.MatchString(e.Key) {
				ps.Add(e.At, e.At.Errorf("column %q, expected a name of letters, digits and _", e.Key))
			}
		} else {
			c = t.column(e.Key)
		}
		values, offset, err := c.split(e.Value)
		if err != nil {
			if sequences {
				ps.Add(e.Value, err)
			}
			continue
		}
		if values == nil || sequences != strings.HasPrefix(strings.TrimSpace(values.Text[offset:]), "sequence") {
			continue
		}
		c.value, err = parseExpression(values, offset, s)
		ps.Add(values, err)
		if err != nil {
			continue
		}
		if g, ok := c.value().(counting); ok && sequences && g.every == 1 && t.sequence == "" {
			t.sequence, t.first = c.name, g.first
		}
	}
}

func (t *table) checkNames(ps *document.Problems) {
	var known []string
	for _, c := range t.columns {
		known = append(known, c.name)
	}
	for _, list := range append(append([]names{t.Key.partition, t.Key.names}, t.Indexes...), t.Unique...) {
		for _, n := range list {
			if t.column(n.Text) == nil {
				ps.Add(n, document.UnknownName(n, "column", known))
			}
		}
	}
	for _, c := range t.columns {
		if c.value != nil {
			return
		}
	}
	if t.rows > 0 && len(*ps) == 0 {
		ps.Add(t.at, t.at.Errorf("rows of %s, but no column has a generator", t.name))
	}
}

func (t *table) column(name string) *column {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

func tableOf(tables []*table, name string) *table {
	for _, t := range tables {
		if t.name == name {
			return t
		}
	}
	return nil
}

func tableNames(tables []*table) []string {
	var all []string
	for _, t := range tables {
		all = append(all, t.name)
	}
	return all
}
