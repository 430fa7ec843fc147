package cql

import (
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
)

// A node that is no member is not restarted, which would have it join, nor waited for.
func TestANodeThatIsNoMemberIsRefused(t *testing.T) {
	s := &stage{mode: "NORMAL", id: "b", notRunning: true}
	on := s.on(s.node(true))
	tasks := map[string]action.Task{"wait-whole": &whole{}, "drain": &drain{Node: "n2"}}
	clean := cleanupAction.New().(*upkeep)
	clean.Node = "n2"
	tasks["cleanup"], tasks["repair"] = clean, &repair{Node: "n2"}
	for name, task := range tasks {
		t.Run(name, func(t *testing.T) {
			_, err := task.Check(t.Context(), on.ReadOnly())
			refused(t, err, "node n2 is not a member of the ring", "cql/remove-node")
		})
	}
	if f, err := (&decommission{Node: "n2"}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("the way out: %+v, %v", f, err)
	}
	if f, err := (&whole{But: "n2"}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("a dead node that the ring has forgotten: %+v, %v", f, err)
	}
	if f, err := (&whole{Joins: "n2", Alone: true}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("one that is to join: %+v, %v", f, err)
	}
	s.notRunning = false // it may be about to join
	if f, err := (&whole{}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
	_, err := (&drain{Node: "n2"}).Check(t.Context(), on.ReadOnly())
	refused(t, err, "node n2 is not a member of the ring", "")

	s.part, s.down, s.notRunning = engine.Normal, "b", true
	if f, err := (&drain{Node: "n2"}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("a member that is stopped: %+v, %v", f, err)
	}
	s.lost = true
	if f, err := (&drain{Node: "n2"}).Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("one of which nobody can tell: %+v, %v", f, err)
	}
}
