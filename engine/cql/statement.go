package cql

import (
	"context"
	"encoding/binary"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/engine/cql/value"
)

// statement is a prepared statement. The driver prepares it on every node when it first gets there.
type statement struct {
	session *session
	query   *gocql.Query
	args    []argument
	key     []int  // which of the arguments are the partition key, in its order; none if it is not among them
	routing []byte // the key as nodes hash it
	rows    rows
}

// prepare has a node say what a text's parameters are.
func prepare(ctx context.Context, s *session, text string) (*statement, error) {
	about, err := s.driver.StatementMetadata(ctx, text, "")
	if err != nil {
		return nil, err
	}
	p := &statement{session: s, query: s.driver.Query(text), key: about.PKBindColumnIndexes}
	p.args = make([]argument, len(about.BindColumns))
	values := make([]any, len(p.args))
	for i, column := range about.BindColumns {
		p.args[i].of = column.TypeInfo
		values[i] = &p.args[i]
	}
	p.query.Bind(values...)
	return p, nil
}

func (p *statement) Exec(ctx context.Context, args []engine.Value, r *engine.Result) error {
	if r != nil {
		r.Reset()
	}
	inner, err := p.session.enter(ctx)
	if err != nil {
		return err
	}
	if err := p.bind(args); err != nil {
		return p.session.leave(ctx, err)
	}
	return p.session.leave(ctx, p.rows.read(p.query.IterContext(inner), r))
}

// bind encodes the arguments, and the routing key of them, which the driver would else look up and encode once more.
func (p *statement) bind(args []engine.Value) error {
	if len(args) != len(p.args) {
		return &engine.Error{Kind: engine.Other, Text: fmt.Sprintf("%d values for %d parameters", len(args), len(p.args))}
	}
	for i := range p.args {
		if err := p.args[i].encode(args[i]); err != nil {
			return &engine.Error{Kind: engine.Other, Text: fmt.Sprintf("parameter %d: %v", i+1, err), Err: err}
		}
	}
	switch len(p.key) {
	case 0:
		return nil
	case 1:
		p.query.RoutingKey(p.args[p.key[0]].bytes)
		return nil
	}
	p.routing = p.routing[:0]
	for _, i := range p.key {
		part := p.args[i].bytes
		p.routing = binary.BigEndian.AppendUint16(p.routing, uint16(len(part)))
		p.routing = append(append(p.routing, part...), 0)
	}
	p.query.RoutingKey(p.routing)
	return nil
}

// argument is a parameter's value as it travels. The driver asks it for its bytes.
type argument struct {
	of     gocql.TypeInfo
	bytes  []byte // nil for null
	memory []byte
}

var _ gocql.Marshaler = (*argument)(nil)

// MarshalCQL implements gocql.Marshaler.
func (a *argument) MarshalCQL(gocql.TypeInfo) ([]byte, error) { return a.bytes, nil }

// encode keeps the value until the next. It keeps no reference to what the value points to, but for texts and bytes, which
// are sent from where they are.
func (a *argument) encode(v engine.Value) error {
	switch {
	case v.IsNull():
		a.bytes = nil
		return nil
	case value.IsBytes(a.of.Type()) && (v.Kind == engine.Text || v.Kind == engine.Bytes):
		a.bytes = v.Data
		if a.bytes == nil {
			a.bytes = empty
		}
		return nil
	}
	var err error
	a.memory, err = value.Append(a.memory[:0], a.of, v)
	a.bytes = a.memory
	return err
}

var empty = []byte{}
