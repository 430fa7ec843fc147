package cql

import (
	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/engine/cql/value"
)

// rows reads what a statement returned, with memory that is kept from one to the next.
type rows struct {
	cells []cell
	dest  []any // pointers to cells
	none  []any // as many nils: columns that nobody wants
}

// read takes the rows of an answer, page by page. r may be nil.
func (c *rows) read(iter *gocql.Iter, r *engine.Result) error {
	columns := iter.Columns()
	c.fit(columns)
	keep := r != nil && r.Keep
	count := 0
	switch {
	case keep:
		for i := range c.cells {
			c.cells[i].into = r
		}
		for iter.Scan(c.dest...) {
			count++
		}
	case len(iter.PageState()) == 0:
		count = iter.NumRows() // all of them are here
	default:
		for iter.Scan(c.none...) {
			count++
		}
	}
	if err := iter.Close(); err != nil {
		if r != nil {
			r.Reset()
		}
		return err
	}
	if r != nil {
		r.Rows, r.Columns = count, len(c.dest)
		if isConditional(columns) && keep && count > 0 {
			r.Affected = r.At(0, 0).Int
		}
	}
	return nil
}

// isConditional tells the answer of a lightweight transaction, which begins with whether it was applied.
func isConditional(columns []gocql.ColumnInfo) bool {
	return len(columns) > 0 && columns[0].Name == "[applied]"
}

// fit makes room for a row. The driver takes a tuple's elements one by one.
func (c *rows) fit(columns []gocql.ColumnInfo) {
	width := 0
	for _, column := range columns {
		width += elements(column)
	}
	if len(c.dest) == width {
		return
	}
	c.cells, c.dest, c.none = make([]cell, width), make([]any, width), make([]any, width)
	for i := range c.cells {
		c.dest[i] = &c.cells[i]
	}
}

func elements(column gocql.ColumnInfo) int {
	if tuple, ok := column.TypeInfo.(gocql.TupleTypeInfo); ok {
		return len(tuple.Elems)
	}
	return 1
}

// cell takes one column of a row at a time.
type cell struct{ into *engine.Result }

var _ gocql.Unmarshaler = (*cell)(nil)

// UnmarshalCQL implements gocql.Unmarshaler.
func (c *cell) UnmarshalCQL(of gocql.TypeInfo, data []byte) error {
	v, err := value.Of(of, data)
	if err != nil {
		return err
	}
	if v.Data != nil {
		v.Data = c.into.Hold(v.Data)
	}
	c.into.Values = append(c.into.Values, v)
	return nil
}
