package mysql

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

// Table implements engine.Tabular.
func (s *session) Table(ctx context.Context, text string) ([]map[string]string, error) {
	return s.table(ctx, text)
}

// Columns implements engine.ColumnNamer.
func (s *session) Columns() []string { return slices.Clone(s.names) }

// table runs a query for its rows by the names of their columns, for statements whose columns differ between servers.
// NULL is left out.
func (s *session) table(ctx context.Context, text string) ([]map[string]string, error) {
	s.names, s.named = s.names[:0], true
	defer func() { s.named = false }()
	r := engine.Result{Keep: true}
	if err := s.Exec(ctx, text, &r); err != nil {
		return nil, err
	}
	for i, name := range s.names {
		for n := 2; slices.Contains(s.names[:i], s.names[i]); n++ {
			s.names[i] = name + " " + strconv.Itoa(n)
		}
	}
	rows := make([]map[string]string, r.Rows)
	for row := range rows {
		rows[row] = make(map[string]string, r.Columns)
		for column := range r.Columns {
			if v := r.At(row, column); !v.IsNull() {
				rows[row][s.names[column]] = shown(v)
			}
		}
	}
	return rows, nil
}

// shown writes a value as the text protocol had it.
func shown(v engine.Value) string {
	switch v.Kind {
	case engine.Integer:
		return strconv.FormatInt(v.Int, 10)
	case engine.Real:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return string(v.Data)
}
