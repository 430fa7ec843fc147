package custom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
)

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
		d.Tables = append(d.Tables, t.name)
		d.Quote = t.quote
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
	s := workload.EachRow(t.name, workload.InsertInto(t.quote(t.name), columns...), t.rows, func() func(int64, *rand.Rand, *workload.Rows) {
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
