package action_test

import (
	"context"
	"errors"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// playing is an engine of servers that play parts, by their addresses.
type playing map[string]*engine.ReplicationStatus

func (e playing) Name() string { return "mysql" }

func (e playing) Open(_ context.Context, t engine.Target) (engine.Database, error) {
	is := e[t.Addresses[0]]
	if is == nil {
		return nil, errors.New("connection refused")
	}
	return part{is: is}, nil
}

type part struct {
	engine.Database
	is *engine.ReplicationStatus
}

func (p part) ReplicationStatus(context.Context) (engine.ReplicationStatus, error) { return *p.is, nil }
func (p part) Facts(context.Context) (engine.Facts, error)                         { return engine.Facts{}, nil }
func (part) Close() error                                                          { return nil }

// stoppable is a server that may be stopped.
type stoppable struct{ running bool }

func (s *stoppable) Running(context.Context) (bool, error)   { return s.running, nil }
func (s *stoppable) Process(context.Context) (string, error) { return "1", nil }
func (s *stoppable) Start(context.Context) error             { s.running = true; return nil }
func (s *stoppable) Stop(context.Context) error              { s.running = false; return nil }

func TestTheUndoOfAStartDoesNotStopWhoHasBecomeThePrimary(t *testing.T) {
	replica := &engine.ReplicationStatus{ReadOnly: true, Sources: []engine.Source{{Address: "n1"}}}
	for name, c := range map[string]struct {
		before, after playing // of n2, which is stopped before
		refused       bool
	}{
		"it replicates from n1":                   {playing{"n1": {}}, playing{"n1": {}, "n2": replica}, false},
		"a new server that is not a replica yet":  {playing{"n1": {}}, playing{"n1": {}, "n2": {}}, false},
		"n1 was the primary, and it is now":       {playing{"n1": {}}, playing{"n1": {ReadOnly: true}, "n2": {}}, true},
		"n1 was the primary, and does not answer": {playing{"n1": {}}, playing{"n2": {}}, true},
		"it was the primary itself":               {playing{"n1": replica}, playing{"n1": replica, "n2": {}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			now, n2 := playing{}, &stoppable{}
			on := &cluster.Cluster{Name: "c", Engine: now, List: func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1"}}}, {Name: "n2", Server: n2, Target: engine.Target{Addresses: []string{"n2"}}}}, nil
			}}
			on.AskRoles()
			defer func() { _ = on.Close() }()
			become := func(parts playing) {
				clear(now)
				for node, is := range parts {
					now[node] = is
				}
				on.RolesChanged()
			}
			task := actiontest.Task(t, action.Servers(), "server.start", "node: n2")
			become(c.before)
			found, err := task.Check(t.Context(), on.ReadOnly())
			if err != nil || found.State != action.Needed {
				t.Fatalf("found %+v, %v", found, err)
			}
			n2.running = true
			become(c.after)
			err = task.(action.Undoer).Undo(t.Context(), on, action.Call{Before: found.Observed})
			var refused *hint.PermanentError
			if errors.As(err, &refused) != c.refused || n2.running != c.refused {
				t.Errorf("undo: %v, running %v, want refused %v", err, n2.running, c.refused)
			}
		})
	}
}
