package cql

import (
	"context"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// What gives orders by nodetool is refused by its check where it cannot be run, or works another server.
func TestNodetoolMustWorkTheNodeThatIsMeant(t *testing.T) {
	for name, task := range map[string]action.Task{
		"decommission": &decommission{Node: "n2"}, "cleanup": cleanupAction.New(), "repair": &repair{Node: "n2"}, "drain": &drain{Node: "n2"},
	} {
		if u, is := task.(*upkeep); is {
			u.Node = "n2"
		}
		s := &stage{part: engine.Normal, mode: "NORMAL", id: "b"}
		on := s.on()
		on.Spares = []cluster.Node{s.n2}
		_, err := task.Check(t.Context(), on)
		refused(t, err, "Plimsoll does not know how to run nodetool for node n2", "machine: local")
		if name == "decommission" {
			continue // it asks for keyspaces before, which is not played here
		}
		n := s.node(false)
		n.Loose = true
		on = s.on(n)
		if f, err := task.Check(t.Context(), on); err != nil || f.State != action.Needed {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		s.id = "a"
		_, err = task.Check(t.Context(), on)
		refused(t, err, "controls another server: host id a, 10.0.0.1; n2 is b", "-p PORT")
		if len(s.orders) > 0 {
			t.Errorf("%s ordered %q", name, s.orders)
		}
	}
	s := &stage{part: engine.Leaving, mode: "LEAVING", id: "a"}
	n := s.node(false)
	n.Loose = true
	_, err := (&decommission{Node: "n2"}).Check(t.Context(), s.on(n))
	refused(t, err, "controls another server: host id a, 10.0.0.1; n2 is b", "nodetool connects to JMX's usual port")
}

// That the inventory lists one node does not mean that the ring has no other.
func TestADrainAsksTheRingAndNotTheInventory(t *testing.T) {
	s := &stage{part: engine.Normal, mode: "NORMAL", down: "a"}
	n := s.node(false)
	on := &cluster.Cluster{Name: "played", Engine: s, List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{n}, nil }}
	_, err := (&drain{Node: "n2"}).Check(t.Context(), on)
	refused(t, err, "the ring is not healthy: 10.0.0.1 (DN)", "")
	s.mode = "DRAINED"
	if f, err := (&drain{Node: "n2"}).Check(t.Context(), on); err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
}

// A node that is still at it when its drain is taken back would be drained a moment later: it is restarted too.
func TestADrainThatGoesOnIsTakenBack(t *testing.T) {
	for mode, stops := range map[string]int{"NORMAL": 0, "DRAINING": 1, "DRAINED": 1} {
		s := &stage{part: engine.Normal, mode: mode}
		on := s.on(s.node(true))
		if err := (&drain{Node: "n2"}).Undo(t.Context(), on, action.Call{}); err != nil || s.stops != stops || s.notRunning {
			t.Errorf("%s: %v, stopped %d times, running: %v", mode, err, s.stops, !s.notRunning)
		}
	}
}

// The process that started a server may have died a moment ago: who goes on waits until nodetool finds the server, and restarts it only
// where it is drained.
func TestAServerThatIsStartingIsWaitedFor(t *testing.T) {
	for mode, stops := range map[string]int{"NORMAL": 0, "DRAINED": 1} {
		s := &stage{part: engine.Normal, mode: mode, starting: 2}
		if err := restarted(t.Context(), s.node(true)); err != nil || s.stops != stops || s.notRunning {
			t.Errorf("%s: %v, stopped %d times, running: %v", mode, err, s.stops, !s.notRunning)
		}
	}
	s := &stage{part: engine.Normal, mode: "NORMAL", starting: 1}
	_, err := mode(t.Context(), s.node(true))
	if err == nil || err.Error() != "nodetool netstats on n2: Server is not initialized yet, cannot run nodetool." {
		t.Errorf("the answer of a server that is starting is told as %v", err)
	}
}
