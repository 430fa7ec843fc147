package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// What an operator does itself, or would take back, is refused on its clusters before anything is asked.
func TestWhatPutsAnOperatorOutOfStepIsRefused(t *testing.T) {
	on := &cluster.Cluster{
		Name: "shop", Kubernetes: &cluster.Kubernetes{Operator: cluster.MariaDBOperator},
		List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "a"}, {Name: "b"}}, nil },
	}
	for name, with := range map[string]string{
		"cql.decommission": "node: a", "cql.join": "node: a", "mysql.promote": "node: a", "mysql.demote": "node: a", "mysql.repoint": "source: a",
		"mysql.replicate": "{node: a, source: b}", "mysql.detach": "node: a", "mysql.fence": "node: a",
	} {
		met := false
		for _, a := range Actions() {
			if a.Name != name {
				continue
			}
			met = true
			said, err := document.Parse("with", []byte(with))
			if err != nil {
				t.Fatal(err)
			}
			task, err := a.Bind(said)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var refused *hint.PermanentError
			if _, err := task.Check(t.Context(), on); !errors.As(err, &refused) || !strings.Contains(err.Error(), "an operator of Kubernetes runs cluster shop") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !met {
			t.Errorf("there is no action %s", name)
		}
	}
}
