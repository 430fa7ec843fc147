package action_test

import (
	"context"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/document"
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
			with, err := document.Parse("with", []byte("node: n2"))
			if err != nil {
				t.Fatal(err)
			}
			stop, _ := action.Find(action.Servers(), "server.stop")
			task, err := stop.Bind(with)
			if err != nil {
				t.Fatal(err)
			}
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
