// Package recorder is a stand-in for a database in tests: it answers as it is told and writes down what it was asked. What
// a real database would say to it, the tests on real engines find out.
package recorder

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"plimsoll/engine"
)

// Recorder is an engine, and the one database it opens.
type Recorder struct {
	// Answer, if set, answers every call: it fills r or returns an error.
	Answer func(text string, args []engine.Value, r *engine.Result) error
	// Mute stops the writing down.
	Mute bool

	mu    sync.Mutex
	lines []string
}

var (
	_ engine.Engine     = (*Recorder)(nil)
	_ engine.Relational = (*Recorder)(nil)
	_ engine.KeyValue   = (*Recorder)(nil)
	_ engine.Database   = (*Recorder)(nil)
)

// Lines returns what was asked, a line each, and forgets it.
func (d *Recorder) Lines() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := strings.Join(d.lines, "\n") + "\n"
	d.lines = nil
	return text
}

func (d *Recorder) Name() string                                                 { return "recorder" }
func (d *Recorder) Quote(name string) string                                     { return "`" + name + "`" }
func (d *Recorder) OrCount(_, column string, _ ...string) string                 { return "or count " + column }
func (d *Recorder) Open(context.Context, engine.Target) (engine.Database, error) { return d, nil }
func (d *Recorder) Facts(context.Context) (engine.Facts, error) {
	return engine.Facts{Product: "recorder"}, nil
}
func (d *Recorder) Close() error                                    { return nil }
func (d *Recorder) Session(context.Context) (engine.Session, error) { return &session{d: d}, nil }

// RecordTable implements engine.KeyValue.
func (d *Recorder) RecordTable(table string, _ int) engine.RecordStatements {
	return engine.RecordStatements{
		Create:     "create " + table,
		Drop:       "drop " + table,
		Insert:     "insert " + table,
		InsertMany: func(rows int) string { return fmt.Sprintf("insert %d %s", rows, table) },
		Read:       "read " + table,
		Update:     func(field int) string { return fmt.Sprintf("update %s field%d", table, field) },
		Scan:       "scan " + table,
	}
}

func (d *Recorder) call(text string, args []engine.Value, r *engine.Result) error {
	if !d.Mute {
		line := strings.Join(strings.Fields(text), " ")
		for i, a := range args {
			line += [2]string{"  [", " "}[min(i, 1)] + Show(a)
		}
		if len(args) > 0 {
			line += "]"
		}
		d.mu.Lock()
		d.lines = append(d.lines, line)
		d.mu.Unlock()
	}
	if r != nil {
		r.Reset()
	}
	if d.Answer == nil {
		return nil
	}
	return d.Answer(text, args, r)
}

// Show writes a value as the lines have it.
func Show(v engine.Value) string {
	switch v.Kind {
	case engine.Integer:
		return fmt.Sprint(v.Int)
	case engine.Real:
		return fmt.Sprint(v.Float)
	case engine.Text:
		return fmt.Sprintf("%q", v.Data)
	case engine.Bytes:
		return fmt.Sprintf("x%x", v.Data)
	}
	return "NULL"
}

type session struct {
	d *Recorder
}

func (s *session) Prepare(_ context.Context, text string) (engine.Statement, error) {
	return &statement{s.d, text}, nil
}

func (s *session) Exec(_ context.Context, text string, r *engine.Result) error {
	return s.d.call(text, nil, r)
}

func (s *session) Interrupt() {}

func (s *session) Close() error { return nil }

type statement struct {
	d    *Recorder
	text string
}

func (p *statement) Exec(_ context.Context, args []engine.Value, r *engine.Result) error {
	return p.d.call(p.text, args, r)
}
