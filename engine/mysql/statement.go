package mysql

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

// statement is a prepared statement.
type statement struct {
	session *session
	id      uint32
	types   []columnType // of the parameters, as sent last
	bound   bool         // the server knows types
	columns []column     // of the rows, as received last
}

var _ engine.Statement = (*statement)(nil)

func (p *statement) Exec(ctx context.Context, args []engine.Value, r *engine.Result) error {
	if len(args) != len(p.types) {
		return fmt.Errorf("statement takes %d parameters, not %d", len(p.types), len(args))
	}
	s := p.session
	if r == nil {
		r = &s.ignored
	}
	r.Reset()
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.Begin(comStmtExecute)
	s.Out = p.appendExecute(s.Out, args)
	err := s.Send()
	if err == nil {
		p.columns, err = s.answer(r, p.columns, binaryRow)
	}
	if p.bound = err == nil; p.bound {
		return s.leave(ctx, nil)
	}
	return s.leave(ctx, err)
}

// Close frees the statement on the server, which otherwise lasts as long as the session.
func (p *statement) Close() error {
	s := p.session
	if err := s.enter(context.Background()); err != nil {
		return err
	}
	s.Begin(comStmtClose)
	s.Out = binary.LittleEndian.AppendUint32(s.Out, p.id)
	return s.leave(context.Background(), s.Post())
}

// appendExecute appends the parameters. Their types go along only when they changed: a NULL keeps the type it had, so
// that a nullable parameter does not make the server bind, or MySQL prepare, the statement anew.
func (p *statement) appendExecute(b []byte, args []engine.Value) []byte {
	b = binary.LittleEndian.AppendUint32(b, p.id)
	b = append(b, 0, 1, 0, 0, 0) // no cursor; one iteration
	if len(args) == 0 {
		return b
	}
	nulls := len(b)
	for range (len(args) + 7) / 8 {
		b = append(b, 0)
	}
	for i, a := range args {
		if a.Kind == engine.Null {
			b[nulls+i/8] |= 1 << (i % 8)
		} else if t := parameterType(a.Kind); t != p.types[i] {
			p.types[i], p.bound = t, false
		}
	}
	if p.bound {
		b = append(b, 0)
	} else {
		b = append(b, 1)
		for _, t := range p.types {
			b = append(b, byte(t), 0)
		}
	}
	for i := range args {
		switch a := &args[i]; a.Kind {
		case engine.Integer:
			b = binary.LittleEndian.AppendUint64(b, uint64(a.Int))
		case engine.Real:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(a.Float))
		case engine.Text, engine.Bytes:
			b = protocol.AppendText(b, a.Data)
		}
	}
	return b
}

func parameterType(k engine.Kind) columnType {
	switch k {
	case engine.Integer:
		return typeLongLong
	case engine.Real:
		return typeDouble
	case engine.Bytes:
		return typeBlob
	}
	return typeVarString
}

var _ engine.SyntaxChecking = (*database)(nil)

// syntaxErrors are the codes of what the server cannot parse; the last is MariaDB's for a type that it does not know, as which it reads what
// follows a misspelled word.
var syntaxErrors = []string{"1064", "1149", "4161"}

// CheckSyntax has ALTER TABLE prepared, which opens no table and changes nothing. Of other statements nothing is asked: to prepare them may wait
// for their tables.
func (c *control) CheckSyntax(ctx context.Context, statement string) error {
	words := strings.Fields(statement)
	if len(words) < 3 || !strings.EqualFold(words[0]+" "+words[1], "ALTER TABLE") {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := c.open(limited) // with its session ends what is prepared
	if err != nil {
		return nil //nolint:nilerr // whoever executes it is told
	}
	defer func() { _ = s.Close() }() // it only prepared
	_, err = s.Prepare(limited, statement)
	if slices.Contains(syntaxErrors, engine.CodeOf(err)) {
		return err
	}
	return nil // it is understood, or told when it is executed
}
