package cql

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"plimsoll/action"
	"plimsoll/engine"
)

// A member that is taken out again runs no more, and keeps its own settings but not those of the join.
func TestATakenBackJoinLeavesAStoppedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{part: engine.Normal, mode: "NORMAL", assigned: map[string]string{"rack": "r2", anewSetting: "true", replaceSetting: "10.0.0.9"}}
		s.onOrder = func() error {
			s.part, s.mode = "", "DECOMMISSIONED"
			return nil
		}
		on := s.on(s.node(true))
		for range 2 { // an undo that was cut off is done again
			if err := (&join{Node: "n2"}).Undo(t.Context(), on, listening(new([]string))); err != nil {
				t.Fatal(err)
			}
			if !s.notRunning || len(s.assigned) != 1 || s.assigned["rack"] != "r2" || len(s.orders) != 1 {
				t.Errorf("running: %v, with %v, ordered %q", !s.notRunning, s.assigned, s.orders)
			}
		}
	})
}

// A ring that was too small for a keyspace before a join may be so again; it does not become so for one that was raised since.
func TestATakenBackJoinLeavesNoMoreLackThanThereWas(t *testing.T) {
	for _, c := range []struct {
		before, since int // replicas
		want          string
	}{
		{1, 1, "decommission"}, {3, 3, "decommission --force"}, {3, 2, "decommission"}, {1, 2, "decommission"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{mode: "NORMAL", replicas: c.before}
			on := s.on(s.node(true))
			s.notRunning = true
			f, err := (&join{Node: "n2"}).Check(t.Context(), on.ReadOnly())
			if err != nil {
				t.Fatal(err)
			}
			journal, err := json.Marshal(f.Observed)
			if err != nil {
				t.Fatal(err)
			}
			call := listening(new([]string))
			if err := json.Unmarshal(journal, &call.Before); err != nil {
				t.Fatal(err)
			}
			s.part, s.replicas, s.notRunning = engine.Normal, c.since, false
			s.onOrder = func() error {
				s.part, s.mode = "", "DECOMMISSIONED"
				return nil
			}
			if err := (&join{Node: "n2"}).Undo(t.Context(), on, call); err != nil || !slices.Equal(s.orders, []string{c.want}) {
				t.Errorf("%+v: ordered %q, %v", c, s.orders, err)
			}
		})
	}
}

// A server that has left the ring and runs on is not waited for: it would never join.
func TestAServerThatHasLeftIsNotJoined(t *testing.T) {
	s := &stage{mode: "DECOMMISSIONED"}
	on := s.on(s.node(true))
	_, err := (&join{Node: "n2"}).Check(t.Context(), on.ReadOnly())
	refused(t, err, "the server of node n2 has left the ring (DECOMMISSIONED), but is still running", "empty its data folder")
	s.mode = "JOINING"
	if f, err := (&join{Node: "n2"}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
		t.Errorf("one that has just been started: %+v, %v", f, err)
	}
}
