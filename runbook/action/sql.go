package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"plimsoll/engine"
)

var sqlAction = Action{
	Name: "sql.execute", Version: 1,
	About: "Executes a statement on a node, with a query that tells whether it was already done.",
	New:   func() Task { return &execute{} },
}

type execute struct {
	Node       string   `yaml:"node" doc:"On which node. Default: the first, the primary."`
	Statements []string `yaml:"statements,required" doc:"Executed one after another on one connection."`
	Query      string   `yaml:"check,required" doc:"A query of one value that tells whether it was done."`
	Want       string   `yaml:"want,required" doc:"The value that says so. NULL is the text NULL."`
	Undone     []string `yaml:"undo" doc:"Statements that take it back."`
	Repeatable bool     `yaml:"repeatable" doc:"Whether the statements may be executed again after they were interrupted half-way. Default false."`
}

var (
	_ Undoer  = (*execute)(nil)
	_ Settler = (*execute)(nil)
)

func (e *execute) Nature() Nature {
	if len(e.Undone) > 0 {
		return Nature{Effect: Reversible, Repeatable: e.Repeatable}
	}
	return Nature{Effect: Irreversible, Repeatable: e.Repeatable}
}

func (e *execute) Check(ctx context.Context, on *Site) (Finding, error) {
	got, err := on.Value(ctx, e.Node, e.Query)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{State: Needed, Observed: Facts{"value": got}, Intended: Facts{"value": e.Want}}
	if got == e.Want {
		f.State = Satisfied
	}
	return f, nil
}

func (e *execute) Act(ctx context.Context, on *Site, c Call) (Facts, error) {
	return nil, on.Execute(ctx, e.Node, signed(e.Statements, c), func(done int) {
		c.Progress(float64(done)/float64(len(e.Statements)), "")
	})
}

func (e *execute) Undo(ctx context.Context, on *Site, c Call) error {
	if len(e.Undone) == 0 {
		return &Refusal{Reason: "the statements have no undo"}
	}
	return on.Execute(ctx, e.Node, signed(e.Undone, c), func(int) {})
}

// Signature begins every statement of an intention, so that one that goes on in the server when its Plimsoll has died is found.
func Signature(c Call) string { return "/* plimsoll " + c.Token + " */ " }

func signed(texts []string, c Call) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = Signature(c) + text
	}
	return out
}

// Settle waits for the end of a statement that goes on in the server.
func (e *execute) Settle(ctx context.Context, on *Site, c Call) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		db, err := on.Database(ctx, e.Node)
		if err != nil {
			return fmt.Errorf("look for what was begun: %w", err)
		}
		watched, ok := db.(engine.Watched)
		if !ok {
			return errors.New("it cannot be told whether a statement of it still goes on in the server")
		}
		n, err := watched.Executing(ctx, Signature(c))
		if err != nil {
			return fmt.Errorf("look for what was begun: %w", err)
		}
		if n == 0 {
			return nil
		}
		c.Progress(-1, "a statement that was begun before still goes on in the server")
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("a statement that was begun before still goes on in the server: %w", context.Cause(ctx))
		}
	}
}

// Execute executes statements on one connection to a node; done is told after each.
func (s *Site) Execute(ctx context.Context, node string, texts []string, done func(int)) error {
	return s.Use(ctx, node, func(session engine.Session) error {
		for i, text := range texts {
			if err := session.Exec(ctx, text, nil); err != nil {
				return fmt.Errorf("statement %d: %w", i+1, err)
			}
			done(i + 1)
		}
		return nil
	})
}

// Value returns the one value of a query on a node as a text; NULL and no row are "NULL".
func (s *Site) Value(ctx context.Context, node, query string) (string, error) {
	r := engine.Result{Keep: true}
	text := "NULL"
	err := s.Use(ctx, node, func(session engine.Session) error {
		if err := session.Exec(ctx, query, &r); err != nil {
			return err
		}
		if r.Rows > 1 || r.Rows == 1 && r.Columns != 1 {
			return fmt.Errorf("%d rows of %d columns, expected one value", r.Rows, r.Columns)
		}
		if r.Rows == 1 {
			text = Plain(r.At(0, 0))
		}
		return nil
	})
	return text, err
}

// Column returns the first column of all rows of a query on a node.
func (s *Site) Column(ctx context.Context, node, query string) ([]string, error) {
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
func (s *Site) Row(ctx context.Context, node, query string) ([]string, error) {
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
func (s *Site) Use(ctx context.Context, node string, f func(engine.Session) error) error {
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
