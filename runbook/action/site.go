package action

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/document"
)

// Site is what a run may reach: one cluster, its databases, servers and machines. It is safe for concurrent use.
type Site struct {
	Name        string
	Environment string // lab, staging or production
	Engine      engine.Engine
	Local       infra.Machine // where Plimsoll runs
	// List returns the nodes as they are now, the primary first.
	List func(ctx context.Context) ([]Node, error)
	// Release is called when the site is closed; may be nil.
	Release func() error

	mu   sync.Mutex
	open map[string]engine.Database
}

// Node is one server of the cluster.
type Node struct {
	Name    string
	Target  engine.Target
	Machine infra.Machine // nil: not known
	Server  Server        // nil: it can be reached and not worked
}

// Server works a database server: what an operator does on its host.
type Server interface {
	Running(ctx context.Context) (bool, error)
	Start(ctx context.Context) error
	Stop(ctx context.Context) error // cleanly
}

// Identified is a server that can say which process it is: another after a restart.
type Identified interface {
	Process(ctx context.Context) (string, error)
}

// Breaker is a server that can be treated badly, as fate does: in a lab.
type Breaker interface {
	Kill(ctx context.Context) error
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	Frozen(ctx context.Context) (bool, error)
}

// ErrNoNode says that the cluster has no node of that name.
var ErrNoNode = errors.New("no such node")

// Node returns a node by name; without a name, the first.
func (s *Site) Node(ctx context.Context, name string) (Node, error) {
	nodes, err := s.List(ctx)
	if err != nil {
		return Node{}, fmt.Errorf("list the nodes of %s: %w", s.Name, err)
	}
	var known []string
	for _, n := range nodes {
		if n.Name == name || name == "" {
			return n, nil
		}
		known = append(known, n.Name)
	}
	err = fmt.Errorf("cluster %s, node %q: %w", s.Name, name, ErrNoNode)
	if near := document.Nearest(name, known); near != "" {
		return Node{}, infra.Advise(err, "did you mean "+near+"?")
	}
	return Node{}, err
}

// Database returns a node's database; without a name, the first node's. It stays open until the site is closed.
func (s *Site) Database(ctx context.Context, node string) (engine.Database, error) {
	n, err := s.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if s.Engine == nil || len(n.Target.Addresses) == 0 {
		return nil, fmt.Errorf("cluster %s: node %s has no database that is known", s.Name, n.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if db := s.open[n.Name]; db != nil {
		_, _ = db.Facts(ctx) // a connection that a restart has cut is found here, and made anew by the next question
		return db, nil
	}
	db, err := s.Engine.Open(ctx, n.Target)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	if s.open == nil {
		s.open = map[string]engine.Database{}
	}
	s.open[n.Name] = db
	return db, nil
}

// Machine returns a node's machine; without a name, the one Plimsoll runs on.
func (s *Site) Machine(ctx context.Context, node string) (infra.Machine, error) {
	if node == "" {
		return s.Local, nil
	}
	n, err := s.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	if n.Machine == nil {
		return nil, &Refusal{Reason: fmt.Sprintf("it is not known how to run commands on the machine of node %s", n.Name),
			Advice: "the inventory has no machine for it"}
	}
	return n.Machine, nil
}

// Answers tells what is wrong with a node; nil when it answers. A node of a cluster without an engine is never wrong.
func (s *Site) Answers(ctx context.Context, node string) error {
	if s.Engine == nil {
		return nil
	}
	db, err := s.Database(ctx, node)
	if err == nil {
		_, err = db.Facts(ctx)
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", node, err)
	}
	return nil
}

// Close closes the databases that were opened.
func (s *Site) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, db := range s.open {
		_ = db.Close() // one that a restart has cut is closed too
	}
	s.open = nil
	if s.Release != nil {
		all = errors.Join(all, s.Release())
	}
	return all
}
