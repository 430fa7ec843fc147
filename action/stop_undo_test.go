package action_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// A drained node runs and does not answer. Whether the stop that follows the drain was executed or not, its undo ends: what made the
// node silent is the drain's to take back, which comes after it.
func TestTheUndoOfAStopEndsOnANodeThatWasSilentBefore(t *testing.T) {
	for name, stopped := range map[string]bool{"it was stopped": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			now, n2 := playing{"n1": {}}, &stoppable{running: true}
			on := &cluster.Cluster{Name: "c", Engine: now, List: func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Target: engine.Target{Addresses: []string{"n1"}}}, {Name: "n2", Server: n2, Target: engine.Target{Addresses: []string{"n2"}}}}, nil
			}}
			defer func() { _ = on.Close() }()
			task := actiontest.Task(t, action.Servers(), "server.stop", "node: n2")
			found, err := task.Check(t.Context(), on.ReadOnly())
			if err != nil || found.State != action.Needed {
				t.Fatalf("found %+v, %v", found, err)
			}
			if stopped {
				if _, err := task.Act(t.Context(), on, action.Call{Before: found.Observed}); err != nil || n2.running {
					t.Fatalf("stopped: %v, it runs: %v", err, n2.running)
				}
				now["n2"] = &engine.ReplicationStatus{} // a node that is started anew is drained no more
			}
			if err := task.(action.Undoer).Undo(t.Context(), on, action.Call{Before: found.Observed}); err != nil || !n2.running {
				t.Errorf("undone: %v, it runs: %v", err, n2.running)
			}
		})
	}
}

// comesBack is a server that takes writes once it runs.
type comesBack struct {
	stoppable
	in playing
}

func (s *comesBack) Start(ctx context.Context) error {
	s.in["n1"] = &engine.ReplicationStatus{}
	return s.stoppable.Start(ctx)
}

// A primary that was stopped is not started again while another node has, or may have, taken its place.
func TestTheUndoOfAStopDoesNotStartASecondPrimary(t *testing.T) {
	replicaOf := func(source string) *engine.ReplicationStatus {
		return &engine.ReplicationStatus{ReadOnly: true, Sources: []engine.Source{{Address: source}}}
	}
	for name, c := range map[string]struct {
		others  playing
		resumed bool
		refused string
	}{
		"the others wait for it":                                   {playing{"n2": replicaOf("n1"), "n3": replicaOf("n1")}, true, ""},
		"n2 does not answer, and nobody follows it":                {playing{"n3": replicaOf("n1")}, false, ""},
		"n2 does not answer, and n3 follows it":                    {playing{"n3": replicaOf("n2")}, false, "n2 does not answer, is followed by another node"},
		"n2 does not answer, and the process that stopped is gone": {playing{"n3": replicaOf("n1")}, true, "n2 does not answer, and may have become the primary"},
		"n2 is the primary":                                        {playing{"n2": {}, "n3": replicaOf("n2")}, false, "n2 is the primary now"},
	} {
		t.Run(name, func(t *testing.T) {
			now := playing{"n1": {Followers: 2}, "n2": replicaOf("n1"), "n3": replicaOf("n1")}
			n1 := &comesBack{stoppable{running: true}, now}
			on := &cluster.Cluster{Name: "c", Engine: now, List: func(context.Context) ([]cluster.Node, error) {
				all := []cluster.Node{{Name: "n1", Server: n1}, {Name: "n2"}, {Name: "n3"}}
				for i := range all {
					all[i].Target = engine.Target{Addresses: []string{all[i].Name}}
				}
				return all, nil
			}}
			on.AskRoles()
			defer func() { _ = on.Close() }()
			task := actiontest.Task(t, action.Servers(), "server.stop", "node: n1")
			found, err := task.Check(t.Context(), on.ReadOnly())
			if err != nil || found.State != action.Needed {
				t.Fatalf("found %+v, %v", found, err)
			}
			n1.running = false
			clear(now)
			for node, is := range c.others {
				now[node] = is
			}
			on.RolesChanged()
			err = task.(action.Undoer).Undo(t.Context(), on, action.Call{Before: found.Observed, Resumed: c.resumed})
			var refused *hint.PermanentError
			if c.refused == "" && (err != nil || !n1.running) {
				t.Errorf("undo: %v, running %v", err, n1.running)
			}
			if c.refused != "" && (!errors.As(err, &refused) || !strings.Contains(refused.Reason, c.refused) || n1.running) {
				t.Errorf("undo: %v, running %v, want %q", err, n1.running, c.refused)
			}
		})
	}
}

// A spare server takes writes and is no primary: its stop is taken back beside the primary. One that a node follows is not a spare any more.
func TestTheUndoOfAStopStartsASpareServerAgain(t *testing.T) {
	for name, c := range map[string]struct {
		n2      *engine.ReplicationStatus
		refused string
	}{
		"nobody follows it": {&engine.ReplicationStatus{ReadOnly: true, Sources: []engine.Source{{Address: "n1"}}}, ""},
		"n2 follows it":     {&engine.ReplicationStatus{ReadOnly: true, Sources: []engine.Source{{Address: "n4"}}}, "n1 is the primary now"},
	} {
		t.Run(name, func(t *testing.T) {
			now := playing{"n1": {}, "n2": c.n2, "n4": {}}
			n4 := &stoppable{running: true}
			node := func(name string) cluster.Node {
				return cluster.Node{Name: name, Target: engine.Target{Addresses: []string{name}}}
			}
			spare := node("n4")
			spare.Server = n4
			on := &cluster.Cluster{
				Name: "c", Engine: now, Spares: []cluster.Node{spare},
				List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{node("n1"), node("n2")}, nil },
			}
			on.AskRoles()
			defer func() { _ = on.Close() }()
			task := actiontest.Task(t, action.Servers(), "server.stop", "node: n4")
			found, err := task.Check(t.Context(), on.ReadOnly())
			if err != nil || found.State != action.Needed {
				t.Fatalf("found %+v, %v", found, err)
			}
			n4.running = false
			if c.refused == "" {
				now["n4"] = &engine.ReplicationStatus{ReadOnly: true} // as its option file has it
			}
			err = task.(action.Undoer).Undo(t.Context(), on, action.Call{Before: found.Observed, Resumed: true})
			if c.refused == "" && (err != nil || !n4.running) || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused) || n4.running) {
				t.Errorf("undo: %v, running %v, want %q", err, n4.running, c.refused)
			}
		})
	}
}
