package custom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
)

// suit fits the table to an engine.
func (t *table) suit(e engine.Engine) error {
	t.quote, t.single = func(name string) string { return name }, true
	if _, t.foreign = e.(engine.Requesting); t.foreign {
		return nil
	}
	if r, ok := e.(engine.Relational); ok {
		t.quote, t.single = r.Quote, false
	}
	var ps document.Problems
	if len(t.Key.partition) > 0 && !t.single {
		ps.Add(t.at, t.Key.partition[0].Errorf("a list in the key of %s, which %s does not have", t.name, e.Name()).
			WithHint("partition keys are Cassandra's; write the columns as one list"))
	}
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
func (t *table) adopt(ctx context.Context, session engine.Session, part workload.Part) error {
	if t.foreign {
		t.keys = part.Keys(workload.Present{Whole: t.rows, Next: t.rows})
		return nil
	}
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
	found, err := t.find(ctx, session)
	if err != nil {
		return fmt.Errorf("find the rows of %s: %w", t.name, err)
	}
	switch {
	case found < 1 && t.rows > 0:
		return &workload.AbsentError{What: "table " + t.name + " is empty"}
	case t.asked != nil && found < t.rows:
		return document.Problems{t.asked.Errorf("%d rows of %s, but there are %d", t.rows, t.name, found)}
	}
	present, err := workload.FindPresent(max(found, 0), func(from, to int64) ([]int64, error) { return t.numbers(ctx, session, from, to) })
	if err != nil {
		return fmt.Errorf("find the rows of %s: %w", t.name, err)
	}
	t.rows, t.keys = present.Whole, part.Keys(present)
	return nil
}

// numbers lists the rows that are there, from one number up to, and without, another.
func (t *table) numbers(ctx context.Context, session engine.Session, from, to int64) ([]int64, error) {
	var all []int64
	switch {
	case t.byNumber():
		has, err := t.look(ctx, session)
		for row := from; row < to && err == nil; row++ {
			var there bool
			if there, err = has(row); there {
				all = append(all, row)
			}
		}
		return all, err
	case t.single: // its rows cannot be asked for in the order of their numbers
		for row := from; row < to; row++ {
			all = append(all, row)
		}
		return all, nil
	}
	r := engine.Result{Keep: true}
	column := t.quote(t.sequence)
	err := session.Exec(ctx, fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s >= %d AND %s < %d ORDER BY 1",
		column, t.quote(t.name), column, t.first+from, column, t.first+to), &r)
	for row := range r.Rows {
		all = append(all, r.At(row, 0).Int-t.first)
	}
	return all, err
}

// byNumber tells whether rows lie by their numbers and nothing else, in no order that a statement could go along.
func (t *table) byNumber() bool { return t.single && slices.Equal(t.Key.texts(), []string{t.sequence}) }

// look asks for single rows.
func (t *table) look(ctx context.Context, session engine.Session) (func(row int64) (bool, error), error) {
	sequence := t.quote(t.sequence)
	statement, err := session.Prepare(ctx, "SELECT "+sequence+" FROM "+t.quote(t.name)+" WHERE "+sequence+" = ?")
	if err != nil {
		return nil, err
	}
	return func(row int64) (bool, error) {
		var r engine.Result
		err := statement.Exec(ctx, []engine.Value{engine.Int(row + t.first)}, &r)
		return r.Rows > 0, err
	}, nil
}

// find counts the rows by their numbers. Where rows lie by their keys alone, a look at all of them would take as long as
// there are many: then some are looked for instead.
func (t *table) find(ctx context.Context, session engine.Session) (int64, error) {
	if t.byNumber() {
		has, err := t.look(ctx, session)
		if err != nil {
			return 0, err
		}
		return workload.Count(has)
	}
	r := engine.Result{Keep: true}
	if err := session.Exec(ctx, "SELECT MAX("+t.quote(t.sequence)+") FROM "+t.quote(t.name), &r); err != nil {
		return 0, err
	}
	if r.Rows == 0 || r.At(0, 0).IsNull() {
		return 0, nil
	}
	return r.At(0, 0).Int - t.first + 1, nil
}

// dataSet describes the tables.
func (w *custom) dataSet() workload.DataSet {
	d := workload.DataSet{Seed: dataSeed}
	for _, t := range w.tables {
		if t.foreign {
			continue
		}
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
	switch {
	case len(t.Key.partition) > 0:
		lines = append(lines, "  PRIMARY KEY (("+t.list(t.Key.partition)+")"+t.more(t.Key.names)+")")
	case len(t.Key.names) > 0:
		lines = append(lines, "  PRIMARY KEY ("+t.list(t.Key.names)+")")
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

// more is a list that goes on.
func (t *table) more(columns names) string {
	if len(columns) == 0 {
		return ""
	}
	return ", " + t.list(columns)
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
		s.Most, s.Over = 1, true
	}
	return s
}
