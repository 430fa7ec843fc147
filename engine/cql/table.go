package cql

import (
	"context"
	"slices"
	"strconv"

	"plimsoll/engine"
)

var (
	_ engine.Tabular     = (*session)(nil)
	_ engine.ColumnNamer = (*session)(nil)
)

// Table implements engine.Tabular. Of a tuple, the elements follow one another: "place", "place 2".
func (s *session) Table(ctx context.Context, text string) ([]map[string]string, error) {
	inner, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	iter := s.driver.Query(text).IterContext(inner)
	var names []string
	for _, column := range iter.Columns() {
		names = append(names, column.Name)
		for i := 2; i <= elements(column); i++ {
			names = append(names, column.Name+" "+strconv.Itoa(i))
		}
	}
	r := engine.Result{Keep: true}
	if err := s.leave(ctx, s.texts.read(iter, &r)); err != nil {
		return nil, err
	}
	s.columns = names
	rows := make([]map[string]string, r.Rows)
	for row := range rows {
		rows[row] = make(map[string]string, len(names))
		for column, name := range names {
			if v := r.At(row, column); !v.IsNull() {
				rows[row][name] = shown(v)
			}
		}
	}
	return rows, nil
}

// Columns implements engine.ColumnNamer.
func (s *session) Columns() []string { return slices.Clone(s.columns) }

// shown writes a value for people.
func shown(v engine.Value) string {
	switch v.Kind {
	case engine.Integer:
		return strconv.FormatInt(v.Int, 10)
	case engine.Real:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return string(v.Data)
}
