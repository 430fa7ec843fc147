// Package httpapi is the adapter for services that are asked over HTTP/1.1: a database's own HTTP interface, or what stands
// before one. Its statements are requests, its results the answers' bodies.
//
// The text of a statement is the request with a ? for each parameter; ?? is a question mark:
//
//	POST /api/v2/query/rows?database=? 200,404
//	Content-Type: application/json
//
//	{"sql": "SELECT * FROM orders WHERE id = ??", "args": [?]}
//
// The first line names the method, the path below that of the target, and the statuses that count as success, 200 to 299 if
// none stands there. A parameter is written as its place asks: percent-encoded in the path, a JSON value in a body of JSON, the
// inside of a JSON string between its quotes, plain elsewhere.
package httpapi

import (
	"context"
	"fmt"

	"plimsoll/engine"
)

// Engine is the adapter, over TLS or without.
type Engine struct{ Secure bool }

var _ engine.Engine = Engine{}

// Name is the scheme: http or https.
func (e Engine) Name() string {
	if e.Secure {
		return "https"
	}
	return "http"
}

// Open asks the service for its base path. Any answer will do, but one that says that the user is not let in.
func (e Engine) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	checked, err := newTarget(t, e.Secure)
	if err != nil {
		return nil, &engine.TargetError{Err: err}
	}
	db := &database{target: checked}
	s, err := db.session(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	db.facts, err = s.greet(ctx)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// database is a service that answers.
type database struct {
	target target
	facts  engine.Facts
}

var _ engine.Database = (*database)(nil)

func (db *database) Session(ctx context.Context) (engine.Session, error) { return db.session(ctx) }

func (db *database) session(ctx context.Context) (*session, error) {
	s := newSession(db.target)
	if err := s.dial(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Facts says what the service called itself when it was asked last.
func (db *database) Facts(ctx context.Context) (engine.Facts, error) {
	s, err := db.session(ctx)
	if err != nil {
		return engine.Facts{}, err
	}
	defer func() { _ = s.Close() }()
	return s.greet(ctx)
}

// Close has nothing to end: sessions end by themselves.
func (db *database) Close() error { return nil }

// greet asks for the base path and returns what answered.
func (s *session) greet(ctx context.Context) (engine.Facts, error) {
	all, err := parseTemplate("HEAD /")
	if err != nil {
		return engine.Facts{}, err
	}
	limited, cancel := context.WithTimeout(ctx, s.target.Timeout)
	defer cancel()
	err = s.exec(limited, all, nil, nil)
	switch class := engine.ClassOf(err); {
	case s.lost != nil && ctx.Err() == nil && limited.Err() != nil:
		return engine.Facts{}, &engine.Error{Kind: engine.Unavailable, Lost: true, Text: fmt.Sprintf("no answer within %v", s.target.Timeout), Err: err}
	case s.lost != nil:
		return engine.Facts{}, err
	case class == engine.Denied:
		denied := s.answer.failed()
		denied.Lost = true
		return engine.Facts{}, denied
	}
	f := engine.Facts{Product: "HTTP", Version: s.answer.version(), Details: map[string]string{"address": s.target.Addresses[0]}}
	if s.answer.server != "" {
		f.Details["server"] = s.answer.server
	}
	return f, nil
}

func (a *answer) version() string { return fmt.Sprintf("1.%d", a.minor) }
