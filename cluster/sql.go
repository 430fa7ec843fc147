package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"plimsoll/engine"
)

// Execute executes statements on one connection to a node; done is told after each.
func (s *Cluster) Execute(ctx context.Context, node string, texts []string, done func(int)) error {
	return s.Use(ctx, node, func(session engine.Session) error { return ExecuteBy(ctx, session, texts, done) })
}

// ExecuteBy executes statements by a session that there is, one after the other.
func ExecuteBy(ctx context.Context, session engine.Session, texts []string, done func(int)) error {
	for i, text := range texts {
		if err := StillOurs(ctx); err != nil {
			return err
		}
		if err := session.Exec(ctx, text, nil); err != nil {
			return fmt.Errorf("statement %d: %w", i+1, err)
		}
		done(i + 1)
	}
	return nil
}

// Value returns the one value of a query on a node as a text; NULL and no row are "NULL".
func (s *Cluster) Value(ctx context.Context, node, query string) (text string, err error) {
	err = s.Use(ctx, node, func(session engine.Session) error {
		text, err = ValueOf(ctx, session, query)
		return err
	})
	return text, err
}

// ValueOf returns the one value of a query by a session that there is.
func ValueOf(ctx context.Context, session engine.Session, query string) (string, error) {
	r := engine.Result{Keep: true}
	if err := session.Exec(ctx, query, &r); err != nil {
		return "", err
	}
	if r.Rows > 1 || r.Rows == 1 && r.Columns != 1 {
		return "", fmt.Errorf("%d rows of %d columns, expected one value", r.Rows, r.Columns)
	}
	if r.Rows == 0 {
		return "NULL", nil
	}
	return Plain(r.At(0, 0)), nil
}

// Column returns the first column of all rows of a query on a node.
func (s *Cluster) Column(ctx context.Context, node, query string) ([]string, error) {
	r := engine.Result{Keep: true}
	var column []string
	err := s.Use(ctx, node, func(session engine.Session) error {
		if err := session.Exec(ctx, query, &r); err != nil {
			return err
		}
		for i := range r.Rows {
			column = append(column, Plain(r.At(i, 0)))
		}
		return nil
	})
	return column, err
}

// Row returns the first row of a query by the names asked for, in the order of its columns; nil when there is none.
func (s *Cluster) Row(ctx context.Context, node, query string) ([]string, error) {
	r := engine.Result{Keep: true}
	var row []string
	err := s.Use(ctx, node, func(session engine.Session) error {
		if err := session.Exec(ctx, query, &r); err != nil {
			return err
		}
		for i := range r.Columns {
			if r.Rows > 0 {
				row = append(row, Plain(r.At(0, i)))
			}
		}
		return nil
	})
	return row, err
}

// Use opens a session on a node, and no other, for f. When ctx ends, it breaks the call off that is under way.
func (s *Cluster) Use(ctx context.Context, node string, f func(engine.Session) error) error {
	db, err := s.database(ctx, node, true)
	if err != nil {
		return err
	}
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, session.Interrupt)
	defer stop()
	return errors.Join(f(session), session.Close())
}

// Plain writes a value as a text; NULL is the text NULL.
func Plain(v engine.Value) string {
	switch v.Kind {
	case engine.Null:
		return "NULL"
	case engine.Integer:
		return strconv.FormatInt(v.Int, 10)
	case engine.Real:
		return strconv.FormatFloat(v.Float, 'f', -1, 64)
	}
	return string(v.Data)
}
