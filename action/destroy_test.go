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

// shrinking notes which servers were removed. It has made n3.
type shrinking struct {
	cluster.Grower
	gone []string
}

func (*shrinking) Grown(string) string { return "n3" }

func (g *shrinking) Shrink(_ context.Context, node string) error {
	g.gone = append(g.gone, node)
	return nil
}

// A server that alone takes the writes is deleted neither by an undo nor by a step, though those that followed it do not answer.
func TestAServerThatAloneTakesWritesIsNotDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		now  playing
		kept bool
	}{
		"the others do not answer":            {playing{"n3": {}}, true},
		"another does not take writes":        {playing{"n2": {ReadOnly: true}, "n3": {}}, true},
		"it is not a replica yet":             {playing{"n1": {}, "n3": {}}, false},
		"it is read-only":                     {playing{"n3": {ReadOnly: true}}, false},
		"it does not answer, nobody needs it": {playing{"n1": {}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := &shrinking{}
			on := &cluster.Cluster{Name: "c", Engine: c.now, Grower: g, List: func(context.Context) ([]cluster.Node, error) {
				all := []cluster.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}}
				for i := range all {
					all[i].Target = engine.Target{Addresses: []string{all[i].Name}}
				}
				return all, nil
			}}
			on.AskRoles()
			defer func() { _ = on.Close() }()
			bind := func(name, with string) action.Task {
				return actiontest.Task(t, action.Servers(), name, with)
			}
			_, destroying := bind("server.destroy", "node: n3").Act(t.Context(), on, action.Call{})
			for what, err := range map[string]error{
				"undo of server.create": bind("server.create", "{}").(action.Undoer).Undo(t.Context(), on, action.Call{}),
				"server.destroy":        destroying,
			} {
				var refused *hint.PermanentError
				if errors.As(err, &refused) != c.kept || c.kept && !strings.Contains(refused.Reason, "n3 accepts writes, and no other node that answers does") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if want := map[bool]int{true: 0, false: 2}[c.kept]; len(g.gone) != want {
				t.Errorf("deleted %v", g.gone)
			}
		})
	}
}

// A server that Plimsoll did not create is left as it is: the plan says why, and not that it is gone.
func TestAServerThatPlimsollDidNotCreateIsLeft(t *testing.T) {
	on := &cluster.Cluster{Name: "c", List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "n3"}}, nil }}
	check := func() action.CheckResult {
		f, err := actiontest.Task(t, action.Servers(), "server.destroy", "node: n3").Check(t.Context(), on)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := check(); f.State != action.Satisfied || len(f.Observed)+len(f.Intended) > 0 || !strings.Contains(f.Reason, "leaves it alone") {
		t.Errorf("%+v", f)
	}
	on.Grower = &shrinking{}
	if f := check(); f.State != action.Needed || f.Observed["exists"] != true || f.Intended["exists"] != false {
		t.Errorf("in a lab: %+v", f)
	}
}
