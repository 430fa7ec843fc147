package workload

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine"
)

// DataSet is how a workload's tables are made and removed.
type DataSet struct {
	Tables  []string // none may be there before; Cleanup drops them in this order
	Create  []string // the statements that make them, empty
	Sources []Source
	Indexes []string // statements that are faster once the rows are there, independent of each other
	Seal    []Source // rows that come after the indexes: where they are missing, the data is not complete
	Finish  []string // statements after all rows, one after another
	Seed    uint64
	Quote   func(table string) string // nil: names stand in statements as they are
	Drop    func(table string) string // nil: DROP TABLE IF EXISTS
}

// Prepare makes the tables and fills them. If it fails it removes what it made.
func (s DataSet) Prepare(ctx context.Context, db engine.Database, tell Progress) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, table := range s.Tables {
		there, err := Exists(ctx, session, s.quoted(table))
		if err != nil {
			return err
		}
		if there {
			return &PresentError{Table: table}
		}
	}
	if err := s.make(ctx, db, session, tell); err != nil {
		return s.undo(ctx, db, err)
	}
	return nil
}

func (s DataSet) make(ctx context.Context, db engine.Database, session engine.Session, tell Progress) error {
	if tell == nil {
		tell = func(int64, int64, string) {}
	}
	m := &meter{tell: tell}
	for _, source := range append(s.Sources[:len(s.Sources):len(s.Sources)], s.Seal...) {
		m.total += source.Total
	}
	if err := each(ctx, session, s.Create); err != nil {
		return err
	}
	if err := fill(ctx, db, s.Sources, s.Seed, m); err != nil {
		return err
	}
	m.add(0, "indexes")
	if err := s.index(ctx, db); err != nil {
		return err
	}
	if err := fill(ctx, db, s.Seal, s.Seed+1, m); err != nil {
		return err
	}
	return each(ctx, session, s.Finish)
}

func (s DataSet) index(ctx context.Context, db engine.Database) error {
	texts := make(chan string, len(s.Indexes))
	for _, text := range s.Indexes {
		texts <- text
	}
	close(texts)
	return sideBySide(ctx, min(len(s.Indexes), sessions()), func(context.Context) error { return nil }, func(ctx context.Context) error {
		session, err := db.Session(ctx)
		if err != nil {
			return err
		}
		defer session.Close()
		for text := range texts {
			if err := each(ctx, session, []string{text}); err != nil {
				return err
			}
		}
		return nil
	})
}

// undoing is how long the removal of half-made tables may take once the preparation was cancelled.
const undoing = 30 * time.Second

func (s DataSet) undo(ctx context.Context, db engine.Database, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	if err := s.Cleanup(ctx, db); err != nil {
		return fmt.Errorf("%w; the partly loaded tables are still there: %w", cause, err)
	}
	return cause
}

// Cleanup drops the tables that are there.
func (s DataSet) Cleanup(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for _, table := range s.Tables {
		text := "DROP TABLE IF EXISTS " + s.quoted(table)
		if s.Drop != nil {
			text = s.Drop(table)
		}
		if err := session.Exec(ctx, text, nil); err != nil && engine.ClassOf(err) != engine.Missing {
			return fmt.Errorf("drop %s: %w", table, err)
		}
	}
	return nil
}

func (s DataSet) quoted(table string) string {
	if s.Quote == nil {
		return table
	}
	return s.Quote(table)
}

func each(ctx context.Context, session engine.Session, texts []string) error {
	for _, text := range texts {
		if err := session.Exec(ctx, text, nil); err != nil {
			return fmt.Errorf("%s: %w", brief(text), err)
		}
	}
	return nil
}

// brief is the beginning of a statement, for messages.
func brief(text string) string {
	const enough = 60
	for i, c := range text {
		if c == '\n' || i == enough {
			return text[:i] + "…"
		}
	}
	return text
}
