package bufferpool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// index is one index of a table; the clustered one holds the rows.
type index struct {
	part
	clustered   bool
	partitioned bool
	columns     []column // that order it, those of the clustered index among them
	oneGo       string   // why it can only be read in one go; "" when it can be read in chunks
	pages       float64  // that it takes, as the server last counted them
	leaves      float64  // of them, those that hold entries
	rows        float64  // of the table
	pageSize    float64
}

func (i index) bytes() float64 { return i.pages * i.pageSize }

// column is a part of an index's key.
type column struct {
	name, kind string
	nullable   bool
	partial    bool   // only its beginning
	odd        string // why entries cannot be told apart by it; "" when they can
}

// hidden is how servers call the clustered index of a table that has no key for it.
const hidden = "GEN_CLUST_INDEX"

// find returns the indexes that are meant, in the order in which they were named. The session only asks.
func (c chosen) find(ctx context.Context, s engine.Session) ([]index, error) {
	var out []index
	seen := map[part]bool{}
	add := func(i index) {
		if !seen[i.part] {
			seen[i.part] = true
			out = append(out, i)
		}
	}
	tables, err := c.tables(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		all, err := indexesOf(ctx, s, t)
		if err != nil {
			return nil, err
		}
		for _, i := range all {
			if !i.unreadable() {
				add(i)
			}
		}
	}
	for _, p := range c.Indexes {
		all, err := indexesOf(ctx, s, part{schema: p.schema, table: p.table})
		if err != nil {
			return nil, err
		}
		i, err := pick(all, p)
		if err != nil {
			return nil, err
		}
		add(i)
	}
	return out, nil
}

// tables names every table under tables.
func (c chosen) tables(ctx context.Context, s engine.Session) (parts, error) {
	var out parts
	for _, t := range c.Tables {
		if t.table != "*" {
			out = append(out, t)
			continue
		}
		r, err := query(ctx, s, `SELECT table_name FROM information_schema.tables
			WHERE table_schema = ? AND engine = 'InnoDB' ORDER BY table_name`, chars(t.schema))
		if err != nil {
			return nil, err
		}
		if r.Rows == 0 {
			return nil, &hint.PermanentError{Reason: "there are no InnoDB tables in " + t.schema}
		}
		for n := range r.Rows {
			out = append(out, part{schema: t.schema, table: string(r.At(n, 0).Data)})
		}
	}
	return out, nil
}

func pick(all []index, p part) (index, error) {
	var names []string
	for _, i := range all {
		if strings.EqualFold(i.index, p.index) {
			if i.unreadable() {
				return i, &hint.PermanentError{Reason: p.String() + " cannot be read from end to end: " + i.oneGo}
			}
			return i, nil
		}
		names = append(names, i.index)
	}
	refusal := &hint.PermanentError{Reason: fmt.Sprintf("table %s.%s has no index %s", p.schema, p.table, p.index)}
	if near := document.Nearest(p.index, names); near != "" {
		refusal.Advice = "did you mean " + near + "?"
	} else {
		refusal.Advice = "it has " + strings.Join(names, ", ")
	}
	return index{}, refusal
}

// indexesOf returns a table's indexes, the clustered one first.
func indexesOf(ctx context.Context, s engine.Session, t part) ([]index, error) {
	r, err := query(ctx, s, "SELECT engine, create_options LIKE '%partitioned%' FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		chars(t.schema), chars(t.table))
	if err != nil {
		return nil, err
	}
	if r.Rows == 0 {
		return nil, &hint.PermanentError{Reason: "there is no table " + t.String()}
	}
	if kind := string(r.At(0, 0).Data); kind != "InnoDB" {
		if kind == "" {
			kind = "no table of its own"
		}
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("%s is %s: the buffer pool is InnoDB's", t, kind)}
	}
	all, err := keysOf(ctx, s, t)
	if err != nil {
		return nil, err
	}
	for n := range all {
		all[n].partitioned = r.At(0, 1).Int == 1
	}
	return all, measure(ctx, s, t, all)
}

// keysOf asks what the indexes are made of.
func keysOf(ctx context.Context, s engine.Session, t part) ([]index, error) {
	r, err := query(ctx, s, `SELECT i.index_name, i.index_type, i.non_unique, i.column_name, i.sub_part, i.collation, c.data_type, c.is_nullable
		FROM information_schema.statistics i LEFT JOIN information_schema.columns c
		ON c.table_schema = i.table_schema AND c.table_name = i.table_name AND c.column_name = i.column_name
		WHERE i.table_schema = ? AND i.table_name = ? ORDER BY i.index_name, i.seq_in_index`, chars(t.schema), chars(t.table))
	if err != nil {
		return nil, err
	}
	var all []index
	unique := map[string]bool{}
	for n := range r.Rows {
		text := func(column int) string { return string(r.At(n, column).Data) }
		name := text(0)
		if len(all) == 0 || all[len(all)-1].index != name {
			all = append(all, index{part: part{t.schema, t.table, name}})
			unique[name] = r.At(n, 2).Int == 0
		}
		last := &all[len(all)-1]
		if kind := text(1); kind != "BTREE" {
			last.oneGo = kind
		}
		last.columns = append(last.columns, readColumn(text(3), text(6), text(7), r.At(n, 4).IsNull(), text(5)))
	}
	return clustered(all, unique, t), nil
}

// comparable are the types whose values, sent back, are found at the place where they were read.
var comparable = []string{
	"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "char", "varchar", "binary", "varbinary",
	"date", "datetime", "timestamp", "time", "year",
}

func readColumn(name, kind, nullable string, full bool, collation string) column {
	c := column{name: name, kind: kind, nullable: nullable == "YES", partial: !full}
	switch {
	case name == "":
		c.odd = "it is an index on an expression"
	case !full:
		c.odd = "it contains only a prefix of " + name
	case collation == "D":
		c.odd = name + " descends"
	case !slices.Contains(comparable, kind):
		c.odd = name + " is " + kind
	}
	return c
}

// clustered puts the index that holds the rows first, PRIMARY or else the first unique one that is never null, and adds its
// columns to the others', as InnoDB does: https://dev.mysql.com/doc/refman/en/innodb-index-types.html.
func clustered(all []index, unique map[string]bool, t part) []index {
	rows := slices.IndexFunc(all, func(i index) bool { return i.index == "PRIMARY" })
	if rows < 0 {
		rows = slices.IndexFunc(all, func(i index) bool {
			return unique[i.index] && i.oneGo == "" && !slices.ContainsFunc(i.columns, func(c column) bool {
				return c.nullable || c.partial || c.name == ""
			})
		})
	}
	if rows < 0 {
		all = slices.Insert(all, 0, index{part: part{t.schema, t.table, hidden}, oneGo: "the table has no key"})
		rows = 0
	}
	first := all[rows]
	all = slices.Insert(slices.Delete(all, rows, rows+1), 0, first)
	all[0].clustered = true
	for n := range all {
		i := &all[n]
		for _, c := range all[0].columns {
			if !slices.ContainsFunc(i.columns, func(have column) bool { return have.name == c.name }) {
				i.columns = append(i.columns, c)
			}
		}
		for _, c := range i.columns {
			if i.oneGo == "" && c.odd != "" {
				i.oneGo = c.odd
			}
		}
		if i.oneGo == "" && all[0].index == hidden {
			i.oneGo = "the table has no key"
		}
	}
	return all
}

// unreadable tells the indexes that no scan goes through.
func (i index) unreadable() bool {
	return i.oneGo == "FULLTEXT" || i.oneGo == "SPATIAL" || i.oneGo == "RTREE"
}
