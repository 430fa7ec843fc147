package catalog

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"plimsoll/engine"
	"plimsoll/engine/cql"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

// WatchSource is what reads an instance at a target. A collector of another kind, such as of a cloud's metrics, is added to its
// Collectors, after the first. The queries are a person's own, of which it takes those that are for it.
func WatchSource(i watch.Instance, t engine.Target, queries []collect.Query) (watch.Source, error) {
	e, err := EngineOf(t)
	if err != nil {
		return watch.Source{}, err
	}
	i.Engine = e.Name()
	login := &login{}
	login.target.Store(&t)
	if d, ok := e.(engine.Dialer); ok {
		dial := func(ctx context.Context) (engine.Session, error) { return d.Dial(ctx, login.now()) }
		mine := slices.DeleteFunc(slices.Clone(queries), func(q collect.Query) bool { return !q.On(i) })
		return watch.Source{Instance: i, Collectors: collect.MySQL(dial, i.Cores, mine...), Login: login}, nil
	}
	if i.Engine == "cql" {
		node := &sharedNode{login: login, turn: make(chan struct{}, 1)}
		return watch.Source{Instance: i, Collectors: collect.Cassandra(node.session, t.Addresses[0], i.Cores), Login: login}, nil
	}
	return watch.Source{}, fmt.Errorf("%s: an instance of the engine %s cannot be watched yet", i.Name, e.Name())
}

// login is how a source logs in: a target, of which the password may become another.
type login struct{ target atomic.Pointer[engine.Target] }

var _ watch.Login = (*login)(nil)

func (l *login) now() engine.Target { return *l.target.Load() }

// Renew implements watch.Login.
func (l *login) Renew(newer watch.Login) {
	if n, ok := newer.(*login); ok {
		l.target.Store(n.target.Load())
	}
}

// sharedNode is a node of a ring, whose sessions share its connections. It is connected to while there are any.
type sharedNode struct {
	login *login
	turn  chan struct{} // holds a token while somebody has what is below
	node  *cql.Node
	users int
}

// session begins one.
func (s *sharedNode) session(ctx context.Context) (engine.Session, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, engine.Ended(ctx, true)
	}
	if s.node == nil {
		node, err := cql.OpenNode(ctx, s.login.now())
		if err != nil {
			return nil, err
		}
		s.node = node
	}
	s.users++
	return &nodeSession{Session: s.node.Session(), of: s}, nil
}

func (s *sharedNode) leave() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.users--; s.users == 0 {
		s.node.Close()
		s.node = nil
	}
}

// nodeSession is a session of a node that is shared.
type nodeSession struct {
	engine.Session
	of *sharedNode
}

func (s *nodeSession) Close() error {
	err := s.Session.Close()
	s.of.leave()
	return err
}
