package custom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
)

// tableKeys are what a table is written with.
type tableKeys struct {
	Rows    int64          `yaml:"rows" doc:"how many rows it is filled with; 0 when left out"`
	Columns *document.Node `yaml:"columns,required" doc:"the columns, by name: TYPE = GENERATOR, or TYPE alone for what the database sets by itself"`
	Key     names          `yaml:"key" doc:"the column or columns of the primary key"`
	Indexes []names        `yaml:"indexes" doc:"further indexes, each a column or a list of columns; they are made after the rows"`
	Unique  []names        `yaml:"unique" doc:"likewise, of indexes that are unique"`
	Options string         `yaml:"options" doc:"what CREATE TABLE ends with, in the engine's words"`
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
}

// column is one column of a table.
type column struct {
	at    *document.Node
	name  string
	kind  variants // its type
	value source   // nil: the database sets it
	typed string   // kind for the engine at hand
}

var validName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// names is a name or a list of them.
type names []*document.Node

// UnmarshalDocument implements document.Unmarshaler.
func (l *names) UnmarshalDocument(n *document.Node) error {
	switch n.Kind {
	case document.Scalar:
		*l = names{n}
	case document.Sequence:
		for _, item := range n.Items {
			if item.Kind != document.Scalar {
				return item.Errorf("%s, expected the name of a column", item.Kind)
			}
		}
		*l = n.Items
	default:
		return n.Errorf("%s, expected the name of a column or a list of them", n.Kind)
	}
	return nil
}

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

// longColumn is a column written as a mapping, for types that differ between engines.
type longColumn struct {
	Type  variants       `yaml:"type,required" doc:"the type, or the types by engine"`
	Value *document.Node `yaml:"value" doc:"the generator"`
}

// split takes the type out of what a column is written as, and returns where its generator begins: nil if it has none.
func (c *column) split(n *document.Node) (values *document.Node, offset int, err error) {
	if n.Kind == document.Mapping {
		var long longColumn
		if err := n.Decode(&long); err != nil {
			return nil, 0, err
		}
		c.kind = long.Type
		if long.Value != nil && long.Value.Kind != document.Scalar {
			return nil, 0, long.Value.Errorf("%s, expected a generator such as uniform 1..100", long.Value.Kind)
		}
		return long.Value, 0, nil
	}
	if n.Kind != document.Scalar {
		return nil, 0, n.Errorf("%s, expected TYPE = GENERATOR", n.Kind)
	}
	kind, offset := n.Text, equals(n.Text)
	if offset >= 0 {
		kind, values = n.Text[:offset], n
	}
	if kind = strings.TrimSpace(kind); kind == "" {
		return nil, 0, n.Errorf("no type, expected TYPE = GENERATOR")
	}
	plain := *n
	plain.Text = kind
	c.kind = variants{plain: &plain}
	return values, offset + 1, nil
}

// equals finds the = between a type and its generator: the first one outside of parentheses and quotes; -1: none.
func equals(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '=' && depth == 0:
			return i
		}
	}
	return -1
}

func (t *table) checkNames(ps *document.Problems) {
	var known []string
	for _, c := range t.columns {
		known = append(known, c.name)
	}
	for _, list := range append(append([]names{t.Key}, t.Indexes...), t.Unique...) {
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

// suit fits the table to an engine.
func (t *table) suit(e engine.Engine) error {
	t.quote, t.single = func(name string) string { return name }, true
	if r, ok := e.(engine.Relational); ok {
		t.quote, t.single = r.Quote, false
	}
	var ps document.Problems
	for _, c := range t.columns {
		n, err := c.kind.of(e)
		if err != nil {
			ps.Add(c.at, err)
			continue
		}
		c.typed = n.Text
	}
	return ps.Err()
}

// adopt finds out how many rows the table has, if they are numbered.
func (t *table) adopt(ctx context.Context, session engine.Session) error {
	there, err := workload.Exists(ctx, session, t.quote(t.name))
	if err != nil {
		return err
	}
	if !there {
		return &workload.AbsentError{What: "there is no table " + t.name}
	}
	if t.sequence == "" {
		return nil
	}
	r := engine.Result{Keep: true}
	if err := session.Exec(ctx, "SELECT MAX("+t.quote(t.sequence)+") FROM "+t.quote(t.name), &r); err != nil {
		return fmt.Errorf("find the rows of %s: %w", t.name, err)
	}
	found := int64(0)
	if r.Rows > 0 && !r.At(0, 0).IsNull() {
		found = r.At(0, 0).Int - t.first + 1
	}
	switch {
	case found < 1 && t.rows > 0:
		return &workload.AbsentError{What: "table " + t.name + " is empty"}
	case t.asked != nil && found < t.rows:
		return document.Problems{t.asked.Errorf("%d rows of %s, but there are %d", t.rows, t.name, found)}
	}
	t.rows, t.keys = found, workload.NewKeys(found)
	return nil
}

// dataSet describes the tables.
func (w *custom) dataSet() workload.DataSet {
	d := workload.DataSet{Seed: dataSeed}
	for _, t := range w.tables {
		d.Tables = append(d.Tables, t.quote(t.name))
		d.Create = append(d.Create, t.create())
		d.Indexes = append(d.Indexes, t.indexes("INDEX", t.Indexes)...)
		d.Indexes = append(d.Indexes, t.indexes("UNIQUE INDEX", t.Unique)...)
		if t.rows > 0 {
			d.Sources = append(d.Sources, t.source())
		}
	}
	return d
}

const dataSeed = 1

func (t *table) create() string {
	var lines []string
	for _, c := range t.columns {
		lines = append(lines, "  "+t.quote(c.name)+" "+c.typed)
	}
	if len(t.Key) > 0 {
		lines = append(lines, "  PRIMARY KEY ("+t.list(t.Key)+")")
	}
	return strings.TrimSpace("CREATE TABLE " + t.quote(t.name) + " (\n" + strings.Join(lines, ",\n") + "\n) " + t.Options)
}

func (t *table) list(columns names) string {
	quoted := make([]string, len(columns))
	for i, n := range columns {
		quoted[i] = t.quote(n.Text)
	}
	return strings.Join(quoted, ", ")
}

func (t *table) indexes(what string, all []names) []string {
	var texts []string
	for _, columns := range all {
		name := t.name
		for _, n := range columns {
			name += "_" + n.Text
		}
		texts = append(texts, "CREATE "+what+" "+t.quote(name)+" ON "+t.quote(t.name)+" ("+t.list(columns)+")")
	}
	return texts
}

// source makes the rows.
func (t *table) source() workload.Source {
	var made []*column
	var columns []string
	for _, c := range t.columns {
		if c.value != nil {
			made, columns = append(made, c), append(columns, t.quote(c.name))
		}
	}
	s := workload.EachRow(t.quote(t.name), workload.InsertInto(t.quote(t.name), columns...), t.rows, func() func(int64, *rand.Rand, *workload.Rows) {
		values := make([]generator, len(made))
		for i, c := range made {
			values[i] = c.value()
		}
		var d drawing
		return func(row int64, r *rand.Rand, rows *workload.Rows) {
			d.r, d.row = r, row
			for _, g := range values {
				d.text = rows.Text()
				rows.Value(g.value(&d))
			}
		}
	})
	if t.single {
		s.Most = 1
	}
	return s
}
