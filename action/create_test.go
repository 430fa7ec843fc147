package action

import (
	"context"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/hint"
)

// A server that is not in the inventory is not taken for its neighbour: who writes db2 does not mean db1.
func TestASpareThatIsNotThereIsToBeCreated(t *testing.T) {
	on := &cluster.Cluster{Name: "shop", List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "db1"}}, nil }}
	_, err := (&create{Node: "db2"}).Check(t.Context(), on)
	if said := hint.Of(err); !strings.Contains(said, "to the nodes of shop in the inventory with spare: true") {
		t.Errorf("%v: %s", err, said)
	}
	if _, err := on.Node(t.Context(), "db2"); hint.Of(err) != "it has db1" {
		t.Errorf("%v: %s", err, hint.Of(err))
	}
	if _, err := on.Node(t.Context(), "bd1"); hint.Of(err) != "did you mean db1?" {
		t.Errorf("%v: %s", err, hint.Of(err))
	}
}
