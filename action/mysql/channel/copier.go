package channel

import (
	"context"
	"fmt"
	"io"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// copier copies databases from one server to another by SQL.
type copier struct {
	source, replica *server
	tell            func(share float64, text string)
	rows, about     int64
	tables          int
}

// batch is how many rows are read and written at once, if their columns are not too many for one statement's parameters.
const (
	batch         = 500
	maxParameters = 60_000
)

// all copies databases as they were at the position returned.
func (c *copier) all(ctx context.Context, databases []string) (position, error) {
	at, err := consistentSnapshot(ctx, c.source, databases)
	if err != nil {
		return at, err
	}
	tables, err := c.source.tables(ctx, databases)
	if err != nil {
		return at, err
	}
	for _, t := range tables {
		c.about += t.rows
	}
	if err := c.replica.do(ctx, "prepare a copy", "SET SESSION time_zone = '+00:00'", "SET SESSION foreign_key_checks = 0",
		"SET SESSION unique_checks = 0", "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"); err != nil {
		return at, err
	}
	for _, database := range databases {
		if err := c.database(ctx, database, tables); err != nil {
			return at, fmt.Errorf("copy %s: %w", database, err)
		}
	}
	return at, c.source.do(ctx, "end the consistent snapshot", "ROLLBACK")
}

func (c *copier) database(ctx context.Context, database string, tables []table) error {
	if err := c.repeat(ctx, "SHOW CREATE DATABASE "+admin.Name(database), "create database"); err != nil {
		return err
	}
	if err := c.replica.do(ctx, "choose the database", "USE "+admin.Name(database)); err != nil {
		return err
	}
	for _, t := range tables {
		if t.schema != database {
			continue
		}
		if err := c.repeat(ctx, "SHOW CREATE TABLE "+t.quoted(), "create table"); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := c.fill(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		c.tables++
	}
	return c.code(ctx, database)
}

// repeat does on the replica what a SHOW CREATE says.
func (c *copier) repeat(ctx context.Context, show, column string) error {
	rows, err := c.source.rows(ctx, show)
	if err != nil {
		return err
	}
	if len(rows) != 1 || rows[0][column] == "" {
		return fmt.Errorf("%s on %s cannot be read: a privilege is missing", show, c.source.name)
	}
	return c.replica.do(ctx, "execute its CREATE statement", rows[0][column])
}

// fill copies a table's rows in the order of its key. Prepared statements carry every value as it is stored: in text, floating
// point would be rounded.
func (c *copier) fill(ctx context.Context, t table) error {
	if len(t.columns) == 0 {
		return nil
	}
	limit := min(batch, maxParameters/len(t.columns))
	var above []engine.Value
	for {
		text := "SELECT " + admin.Names(t.columnNames()) + " FROM " + t.quoted()
		var args []engine.Value
		if len(t.key) > 0 {
			var condition string
			condition, args = span{above: above}.where(t.key)
			text += fmt.Sprintf(" WHERE %s ORDER BY %s LIMIT %d", condition, admin.Names(t.key), limit)
		}
		r, err := query(ctx, c.source, text, args)
		if err != nil {
			return err
		}
		if r.Rows == 0 {
			return nil
		}
		if err := c.insert(ctx, t, r, limit); err != nil {
			return err
		}
		c.rows += int64(r.Rows)
		c.tell(min(0.99, float64(c.rows)/float64(max(c.about, 1))), fmt.Sprintf("%s: %d rows", t, c.rows))
		if len(t.key) == 0 || r.Rows < limit {
			return nil
		}
		above = t.keyOf(r, r.Rows-1)
	}
}

// keyOf is the key of one row of a table.
func (t table) keyOf(r *engine.Result, row int) []engine.Value {
	key := make([]engine.Value, len(t.key))
	for i, column := range t.key {
		for j, c := range t.columns {
			if c.name == column {
				key[i] = r.At(row, j)
			}
		}
	}
	return held(key)
}

// insert writes rows, so many at once.
func (c *copier) insert(ctx context.Context, t table, r *engine.Result, limit int) error {
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", r.Columns), ", ") + ")"
	for row := 0; row < r.Rows; row += limit {
		n := min(limit, r.Rows-row)
		text := "INSERT INTO " + t.quoted() + " (" + admin.Names(t.columnNames()) + ") VALUES " + strings.TrimSuffix(strings.Repeat(one+", ", n), ", ")
		statement, err := c.replica.Prepare(ctx, text)
		if err != nil {
			return err
		}
		if err := statement.Exec(ctx, r.Values[row*r.Columns:(row+n)*r.Columns], nil); err != nil {
			return err
		}
		if closer, ok := statement.(io.Closer); ok {
			if err := closer.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// code copies what stands beside the tables: views, triggers, procedures and functions.
func (c *copier) code(ctx context.Context, database string) error {
	if err := c.views(ctx, database); err != nil {
		return err
	}
	for _, kind := range []struct{ list, show, column string }{
		{"SELECT routine_name AS n FROM information_schema.routines WHERE routine_type = 'FUNCTION' AND routine_schema = ", "SHOW CREATE FUNCTION ", "create function"},
		{"SELECT routine_name AS n FROM information_schema.routines WHERE routine_type = 'PROCEDURE' AND routine_schema = ", "SHOW CREATE PROCEDURE ", "create procedure"},
		{"SELECT trigger_name AS n FROM information_schema.triggers WHERE trigger_schema = ", "SHOW CREATE TRIGGER ", "sql original statement"},
	} {
		rows, err := c.source.rows(ctx, kind.list+admin.Text(database)+" ORDER BY 1")
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := c.repeat(ctx, kind.show+admin.Name(database)+"."+admin.Name(row["n"]), kind.column); err != nil {
				return fmt.Errorf("%s: %w", row["n"], err)
			}
		}
	}
	return nil
}

// views are made in as many passes as it takes, because one may stand on another.
func (c *copier) views(ctx context.Context, database string) error {
	left, err := c.source.rows(ctx, "SELECT table_name AS n FROM information_schema.views WHERE table_schema = "+admin.Text(database)+" ORDER BY 1")
	if err != nil {
		return err
	}
	for len(left) > 0 {
		var again []map[string]string
		var refused error
		for _, row := range left {
			if err := c.repeat(ctx, "SHOW CREATE VIEW "+admin.Name(database)+"."+admin.Name(row["n"]), "create view"); err != nil {
				again, refused = append(again, row), fmt.Errorf("%s: %w", row["n"], err)
			}
		}
		if len(again) == len(left) {
			return refused
		}
		left = again
	}
	return nil
}
