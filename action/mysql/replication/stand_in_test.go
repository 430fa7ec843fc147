package replication

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// standIns is an engine of servers that answer what a test tells them to: for what real servers do seldom. Each is at the address
// that is its name.
type standIns map[string]*standIn

type standIn struct {
	is      engine.ReplicationStatus
	product string                                 // "": MySQL
	silent  error                                  // why it does not answer
	answers func(statement string) (string, error) // nil: every statement succeeds and answers nothing
	hears   bool                                   // something comes from its sources between any two questions
	beats   int                                    // after so many questions something comes, once; 0: never
	asked   int
	heard   int
	said    []string // the statements that it was told
}

func (s standIns) Name() string { return "mysql" }

func (s standIns) Open(_ context.Context, t engine.Target) (engine.Database, error) {
	db := s[t.Addresses[0]]
	return db, db.silent
}

func (s *standIn) Close() error { return nil }

func (s *standIn) Facts(context.Context) (engine.Facts, error) {
	return engine.Facts{Product: cmp.Or(s.product, "MySQL"), Version: "8.4.6"}, s.silent
}

func (s *standIn) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) {
	is := s.is
	is.Sources = slices.Clone(is.Sources)
	s.asked++
	for n := range is.Sources {
		if s.beats > 0 {
			is.Sources[n].Heard = strconv.FormatBool(s.asked > s.beats)
		}
		if s.hears {
			s.heard++
			is.Sources[n].Heard = strconv.Itoa(s.heard)
		}
	}
	return is, s.silent
}

func (s *standIn) Session(context.Context) (engine.Session, error) {
	return standInSession{s}, s.silent
}

type standInSession struct{ *standIn }

func (s standInSession) Interrupt() {}

func (s standInSession) Prepare(context.Context, string) (engine.Statement, error) {
	return nil, errors.New("the stand-in prepares nothing")
}

func (s standInSession) Exec(ctx context.Context, text string, r *engine.Result) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.said = append(s.said, text)
	if s.answers == nil {
		return nil
	}
	answer, err := s.answers(text)
	if r != nil && err == nil {
		r.Rows, r.Columns, r.Values = 1, 1, []engine.Value{{Kind: engine.Bytes, Data: []byte(answer)}}
	}
	return err
}

// cluster has them as its nodes, in the order of their names.
func (s standIns) cluster(t *testing.T) *cluster.Cluster {
	t.Helper()
	var nodes []cluster.Node
	for name := range s {
		nodes = append(nodes, cluster.Node{Name: name, Target: engine.Target{Engine: "mysql", Addresses: []string{name}}})
	}
	slices.SortFunc(nodes, func(a, b cluster.Node) int { return strings.Compare(a.Name, b.Name) })
	c := &cluster.Cluster{Name: "stand-ins", Engine: s, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
