package cql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// A spare server of the inventory, which only a person can start, is asked for, followed once it joins, and asked to be stopped.
func TestAServerThatOnlyAPersonCanStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{}
		on := s.on()
		on.Spares = []cluster.Node{s.n2}
		j := &join{Node: "n2"}
		_, err := j.Check(t.Context(), on.ReadOnly())
		refused(t, err, "Plimsoll does not know how to start the server of node n2", "auto_bootstrap")
		var told []string
		_, err = j.Act(t.Context(), on, listening(&told))
		refused(t, err, "Plimsoll does not know how to start the server of node n2", "resume")
		if err := j.Undo(t.Context(), on, listening(&told)); err != nil {
			t.Errorf("undo of what was never begun: %v", err)
		}

		s.part = engine.Joining // a person started it
		if f, err := j.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
			t.Errorf("found %+v, %v", f, err)
		}
		refused(t, j.Undo(t.Context(), on, listening(&told)), "Plimsoll does not know how to stop the server of node n2, and the ring sees it as UJ", "by hand")
		s.later(time.Hour, func() { s.part = engine.Normal })
		if out, err := j.Act(t.Context(), on, listening(&told)); err != nil || out["host_id"] != "b" {
			t.Errorf("%v, %v", out, err)
		}

		s.part, s.down = engine.Joining, "b" // and it ended
		_, err = j.Act(t.Context(), on, listening(&told))
		refused(t, err, "the others have not seen it as up for 5m", "-Dcassandra.reset_bootstrap_progress=true")
	})
}

func TestAReplacementThatOnlyAPersonCanStart(t *testing.T) {
	s := &stage{down: "a"}
	on := s.on(cluster.Node{Name: "n3", Target: engine.Target{Addresses: []string{"10.0.0.3:9042"}}})
	on.Spares = []cluster.Node{s.n2}
	_, err := (&join{Node: "n2", Replaces: "n1"}).Check(t.Context(), on)
	refused(t, err, "Plimsoll does not know how to start the server of node n2", "-Dcassandra.replace_address_first_boot=10.0.0.1")
}

// aDay is more than anything here may take.
func aDay(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	t.Cleanup(cancel)
	return ctx
}

// A node whose streams failed stays as it is: it is stopped, and started to stream anew, until that has failed too often.
func TestAJoinWhoseStreamsFailed(t *testing.T) {
	for _, c := range []struct {
		fails int
		says  string
	}{{1, ""}, {9, "did not receive its data (JOINING_FAILED), 3 times; the ring serves as before"}} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{part: engine.Joining, mode: "JOINING_FAILED", mends: c.fails, assigned: map[string]string{"rack": "r2"}}
			n := s.node(true)
			on := s.on(n)
			var told []string
			out, err := (&join{Node: "n2"}).Act(aDay(t), on, listening(&told))
			if c.says == "" && (err != nil || out["host_id"] != "b" || s.stops != 1) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || s.stops != 2) {
				t.Errorf("failed %d times: %v, %v, stopped %d times; told %q", c.fails, out, err, s.stops, told)
			}
			if s.assigned[anewSetting] != "true" || s.assigned["rack"] != "r2" || s.assigned[replaceSetting] != "" {
				t.Errorf("it was started with %v", s.assigned)
			}
		})
	}
}

// A node that was found leaving and has failed to leave is ordered to again; what nodetool refuses is refused.
func TestANodeThatFailedToLeave(t *testing.T) {
	for _, found := range []string{"DECOMMISSION_FAILED", "NORMAL"} { // or its server was restarted
		synctest.Test(t, func(t *testing.T) {
			s := &stage{part: engine.Leaving, mode: "LEAVING"}
			n := s.node(true)
			r := &ring{cluster: s.on(n)}
			r.nodes, _ = r.cluster.List(t.Context())
			s.onOrder = func() error {
				s.mode = "DECOMMISSIONED"
				s.later(time.Minute, func() { s.part = "" })
				return nil
			}
			s.later(time.Hour, func() { s.mode = found })
			var told []string
			if err := leave(aDay(t), r, n, listening(&told)); err != nil || len(s.orders) != 1 || s.orders[0] != "decommission" {
				t.Errorf("%v, ordered %q", err, s.orders)
			}
			if !strings.Contains(strings.Join(told, "\n"), "it is "+found+", and is decommissioned again") {
				t.Errorf("told %q", told)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := &stage{part: engine.Normal, mode: "NORMAL"}
		n := s.node(true)
		r := &ring{cluster: s.on(n)}
		r.nodes, _ = r.cluster.List(t.Context())
		s.onOrder = func() error {
			return errors.New("Unsupported operation: Not enough live nodes to maintain replication factor in keyspace logs (RF = 2, N = 2).")
		}
		refused(t, leave(aDay(t), r, n, listening(new([]string))), "Not enough live nodes to maintain replication factor in keyspace logs", "lower the keyspace's replication")
		s.onOrder = func() error { return errors.New("Error while decommissioning node: Stream failed") }
		if err := leave(aDay(t), r, n, listening(new([]string))); err == nil || !strings.Contains(err.Error(), "Stream failed; until it has left, it serves") {
			t.Errorf("got %v", err)
		}
		s.part, s.mode, s.down = engine.Leaving, "LEAVING", "b"
		if err := leave(aDay(t), r, n, listening(new([]string))); err == nil || !strings.Contains(err.Error(), "node n2 was leaving, and the others have not seen it as up") {
			t.Errorf("got %v", err)
		}
	})
}

// A node that dies while it leaves can tell nobody whether it has left: the others can.
func TestOthersTellWhetherANodeThatDiedHasLeft(t *testing.T) {
	for _, left := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &stage{part: engine.Normal, mode: "NORMAL"}
			on := s.on(s.node(true))
			r := &ring{cluster: on}
			r.nodes, _ = on.List(t.Context())
			s.onOrder = func() error { // within moments the others hear of it
				s.part, s.notRunning = engine.Leaving, true
				s.later(8*time.Second, func() {
					if s.down = "b"; left {
						s.part = ""
					}
				})
				return errors.New("Failed to connect to '127.0.0.1:7199' - ConnectException: 'Connection refused'.")
			}
			err := leave(aDay(t), r, r.nodes[0], listening(new([]string)))
			if left {
				if err != nil {
					t.Errorf("it has left: %v", err)
				}
				return
			}
			const says = "node n2 does not answer and has not left: n1 still sees it as a member, 10.0.0.2 (DL), which owns its ranges"
			refused(t, err, says, "start it: on its machine, such as systemctl start cassandra; then plimsoll runbook resume RUN decommissions it again")
			refused(t, leave(aDay(t), r, r.nodes[0], listening(new([]string))), says, "start it") // resumed
			f, err := (&decommission{Node: "n2"}).Check(t.Context(), on.ReadOnly())
			refused(t, err, says, "start it")
			if hold := (action.FactsHold{}); !errors.As(err, &hold) || f.Observed["leaving"] != true || f.Observed["host_id"] != "b" {
				t.Errorf("observed %v, %v", f.Observed, err)
			}
			if len(s.orders) != 1 {
				t.Errorf("ordered %q", s.orders)
			}
		})
	}
}

// Nothing is left of a drain once the node was restarted and the others have it as up.
func TestADrainPassesWithTheRestart(t *testing.T) {
	s := &stage{part: engine.Normal, mode: "DRAINED", down: "b"}
	on := s.on(s.node(true))
	passed := func() error { return (&drain{Node: "n2"}).Passed(t.Context(), on.ReadOnly(), nil) }
	if err := passed(); err == nil || !strings.Contains(err.Error(), "node n2 is in mode DRAINED, not NORMAL") {
		t.Errorf("drained: %v", err)
	}
	s.mode = "NORMAL"
	if err := passed(); err == nil || !strings.Contains(err.Error(), "the ring sees node n2 as 10.0.0.2 (DN)") {
		t.Errorf("restarted, and the others have not noticed it: %v", err)
	}
	if s.down = ""; passed() != nil {
		t.Errorf("restarted: %v", passed())
	}
	s.part = ""
	refused(t, passed(), "node n2 is not a member of the ring", "a change that did not finish may have left it")
}
