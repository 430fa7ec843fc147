package bufferpool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// walk reads an index from one end to the other, each chunk by one statement that returns its last entry alone.
//
// The statement asks for the entry that comes N after the last one: the server has to go through all in between, and
// sends none of them. What orders an index are its own columns and then those of the clustered index, so that every entry
// has a place of its own; that the next chunk begins behind it is written out column by column, because servers find no
// range for (a, b) > (x, y).
type walk struct {
	session  engine.Session
	index    index
	from, to string // of the first column, both included; empty: all of it

	last     []engine.Value // the entry that was reached; nil at the start
	prepared map[string]engine.Statement
}

// next reads a chunk of so many entries. done says that the end was reached.
func (w *walk) next(ctx context.Context, entries int) (done bool, err error) {
	text, args := w.statement()
	s := w.prepared[text]
	if s == nil {
		if s, err = w.session.Prepare(ctx, text); err != nil {
			return false, err
		}
		if w.prepared == nil {
			w.prepared = map[string]engine.Statement{}
		}
		w.prepared[text] = s
	}
	r := engine.Result{Keep: true}
	if err := s.Exec(ctx, append(args, engine.Int(int64(entries-1))), &r); err != nil {
		return false, err
	}
	if r.Rows == 0 {
		return true, nil
	}
	reached := keep(r.Values)
	if slices.EqualFunc(reached, w.last, same) {
		return false, fmt.Errorf("the server returned %s twice while it was reading in order", w.index)
	}
	w.last = reached
	return false, nil
}

func (w *walk) statement() (text string, args []engine.Value) {
	var conditions []string
	first := admin.Name(w.index.columns[0].name)
	switch {
	case w.last != nil:
		behind, values := w.behind()
		conditions, args = append(conditions, behind), values
	case w.from != "":
		conditions, args = append(conditions, first+" >= ?"), append(args, chars(w.from))
	}
	if w.to != "" {
		conditions, args = append(conditions, first+" <= ?"), append(args, chars(w.to))
	}
	where := ""
	if len(conditions) > 0 {
		where = " WHERE " + strings.Join(conditions, " AND ")
	}
	var names []string
	for _, c := range w.index.columns {
		names = append(names, admin.Name(c.name))
	}
	list := strings.Join(names, ", ")
	return "SELECT " + list + " FROM " + w.index.source() + where + " ORDER BY " + list + " LIMIT ?, 1", args
}

// behind is the condition for the entries that come after the last: (a > x OR (a = x AND b > y)). Nulls come first.
func (w *walk) behind() (string, []engine.Value) {
	var choices []string
	var args []engine.Value
	for n, c := range w.index.columns {
		var terms []string
		for m, equal := range w.index.columns[:n] {
			if w.last[m].IsNull() {
				terms = append(terms, admin.Name(equal.name)+" IS NULL")
				continue
			}
			terms = append(terms, admin.Name(equal.name)+" = ?")
			args = append(args, w.last[m])
		}
		if w.last[n].IsNull() {
			terms = append(terms, admin.Name(c.name)+" IS NOT NULL")
		} else {
			terms = append(terms, admin.Name(c.name)+" > ?")
			args = append(args, w.last[n])
		}
		choices = append(choices, "("+strings.Join(terms, " AND ")+")")
	}
	return "(" + strings.Join(choices, " OR ") + ")", args
}

// source is the table with the one index that may be used.
func (i index) source() string {
	table := admin.Name(i.schema) + "." + admin.Name(i.table)
	if i.index == hidden {
		return table + " USE INDEX ()" // what is left are the rows themselves
	}
	return table + " FORCE INDEX (" + admin.Name(i.index) + ")"
}

// whole reads an index that cannot be walked. It is no COUNT(*): MySQL may count the rows of another index than the one that
// it is told to use. MariaDB scans no index that begins with a part of a column, and does go through all of its values.
func (i index) whole() string {
	text := "SELECT SUM(1) FROM " + i.source()
	if len(i.columns) > 0 && i.columns[0].partial {
		name := admin.Name(i.columns[0].name)
		text += " WHERE " + name + " >= '' OR " + name + " IS NULL"
	}
	return text
}

// keep copies values, which are only lent.
func keep(values []engine.Value) []engine.Value {
	out := slices.Clone(values)
	for n := range out {
		out[n].Data = slices.Clone(out[n].Data)
	}
	return out
}

func same(a, b engine.Value) bool {
	return a.Kind == b.Kind && a.Int == b.Int && a.Float == b.Float && string(a.Data) == string(b.Data)
}
