package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// stage is no ring: it plays one of two nodes, n1 at 10.0.0.1 and n2 at 10.0.0.2, in states that a real one reaches only by
// hours of streams, or by luck. What is played is what Cassandra 5.0's source does.
type stage struct {
	mute
	mu         sync.Mutex
	part       engine.Part // of n2; "": it is no member
	down       string      // host id of who is down
	lost       bool        // nobody answers
	forgotten  bool        // n1 is no member any more
	mode       string      // what nodetool says that n2 is at
	id         string      // host id of the server that nodetool works
	tasks      []engine.Task
	silent     []string
	hints      []engine.Hint
	orders     []string     // that nodetool was given
	onOrder    func() error // what comes of one
	mends      int          // after so many stops n2 joins
	replicas   int          // of the keyspace shop in dc1; 0: there is none
	stops      int
	assigned   map[string]string
	n2         cluster.Node
	notRunning bool
	starting   int // so many times nodetool finds a server that has not come up yet
}

// later changes what is played, after a while.
func (s *stage) later(d time.Duration, change func()) {
	time.AfterFunc(d, func() { s.now(change) })
}

func (s *stage) now(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *stage) Open(context.Context, engine.Target) (engine.Database, error) { return s, nil }
func (s *stage) Tasks(context.Context) ([]engine.Task, error)                 { return s.tasks, nil }

func (s *stage) Session(context.Context) (engine.Session, error) { return asked{s}, nil }

// asked answers which keyspaces there are.
type asked struct{ *stage }

func (a asked) Prepare(context.Context, string) (engine.Statement, error) {
	return nil, errors.New("not played")
}
func (a asked) Interrupt()   {}
func (a asked) Close() error { return nil }

func (a asked) Exec(_ context.Context, _ string, r *engine.Result) error {
	r.Columns, r.Rows = 2, 1
	strategy := `{"class": "LocalStrategy"}`
	if a.replicas > 0 {
		strategy = fmt.Sprintf(`{"class": "NetworkTopologyStrategy", "dc1": "%d"}`, a.replicas)
	}
	r.Values = []engine.Value{{Data: []byte("shop")}, {Data: []byte(strategy)}}
	return nil
}

func (s *stage) Hints(context.Context) ([]engine.Hint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.silent) > 0 {
		return nil, fmt.Errorf("read the hints: %w", &engine.SilentError{Nodes: s.silent})
	}
	return s.hints, nil
}

func (s *stage) Ring(context.Context, string) (engine.Ring, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost {
		return engine.Ring{}, &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "no node can be reached"}
	}
	var members []engine.Member
	if !s.forgotten {
		members = append(members, engine.Member{Host: "a", Address: "10.0.0.1:9042", Part: engine.Normal, Up: s.down != "a", DataCentre: "dc1"})
	}
	if s.part != "" {
		members = append(members, engine.Member{Host: "b", Address: "10.0.0.2:9042", Part: s.part, Up: s.down != "b", DataCentre: "dc1"})
	}
	return engine.Ring{Members: members}, nil
}

// tooling is the machine on which nodetool runs.
type tooling struct {
	infra.Machine
	*stage
}

func (t tooling) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	s := t.stage
	s.mu.Lock()
	defer s.mu.Unlock()
	switch c.Args[0] {
	case "netstats":
		if s.starting > 0 {
			s.starting--
			return infra.Output{Stderr: []byte("Exception in thread \"main\" java.lang.IllegalArgumentException: Server is not initialized yet, cannot run nodetool.\n\tat org.apache.cassandra.tools.NodeTool.err(NodeTool.java:320)\n")}, errors.New("exit status 1")
		}
		return infra.Output{Stdout: []byte("Mode: " + s.mode + "\nNot sending any streams.\n")}, nil
	case "info":
		return infra.Output{Stdout: []byte("ID                     : " + s.id + "\nGossip active          : true\n")}, errors.New("it stumbled over a cache")
	}
	s.orders = append(s.orders, strings.Join(c.Args, " "))
	if s.onOrder == nil {
		return infra.Output{}, nil
	}
	err := s.onOrder()
	if err == nil {
		return infra.Output{}, nil
	}
	return infra.Output{Stderr: []byte("nodetool: " + err.Error() + "\nSee 'nodetool help'\n")}, errors.New("exit status 1")
}

// server is n2's.
type server struct{ *stage }

func (s server) Running(context.Context) (bool, error) { return !s.notRunning, nil }
func (s server) Start(context.Context) error           { s.notRunning = false; return nil }
func (s server) Stop(context.Context) error {
	s.stops, s.notRunning = s.stops+1, true
	if s.stops == s.mends {
		s.part, s.mode = engine.Normal, "NORMAL"
	}
	return nil
}

func (s server) Assigned(context.Context) (map[string]string, error) { return s.assigned, nil }
func (s server) Assign(_ context.Context, all map[string]string) error {
	s.assigned = all
	return nil
}

func (s *stage) on(nodes ...cluster.Node) *cluster.Cluster {
	s.n2 = cluster.Node{Name: "n2", Target: engine.Target{Addresses: []string{"10.0.0.2:9042"}}}
	return &cluster.Cluster{Name: "played", Engine: s, List: func(context.Context) ([]cluster.Node, error) {
		return append(nodes, cluster.Node{Name: "n1", Target: engine.Target{Addresses: []string{"10.0.0.1:9042"}}}), nil
	}}
}

// node is n2 with nodetool and, if it is said, a server.
func (s *stage) node(works bool) cluster.Node {
	n := cluster.Node{Name: "n2", Target: engine.Target{Addresses: []string{"10.0.0.2:9042"}}, Machine: tooling{stage: s}}
	n.Tool = func(args ...string) (infra.Command, error) {
		return infra.Command{Path: "nodetool", Args: args}, nil
	}
	if works {
		n.Server = server{s}
	}
	return n
}

func refused(t *testing.T, err error, reason, advice string) {
	t.Helper()
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) || !strings.Contains(refusal.Advice, advice) {
		t.Errorf("got %v (%+v), want a refusal: %s; %s", err, refusal, reason, advice)
	}
}

func listening(told *[]string) action.Call {
	return action.Call{Progress: func(share float64, text string) { *told = append(*told, fmt.Sprintf("%.2f %s", share, text)) }}
}

func (*stage) Repairs(context.Context, string) ([]engine.Repair, error) { return nil, nil }
func (*stage) Sizes(context.Context, string) (map[string]int64, error)  { return nil, nil }
