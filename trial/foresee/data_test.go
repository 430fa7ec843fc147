package foresee

import (
	"context"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// empty is a server without any table.
type empty struct{ engine.Database }

func (empty) Name() string                                                   { return "mysql" }
func (e empty) Open(context.Context, engine.Target) (engine.Database, error) { return e, nil }
func (empty) Close() error                                                   { return nil }

// tables is a workload whose tables are not there.
type tables struct{ workload.Workload }

func (tables) Adopt(context.Context, engine.Database) error {
	return &workload.AbsentError{What: "there is no table sbtest1"}
}

// A trial on a cluster that is there cannot run without its data, for which there is a command. What it prepares may make the data, and a
// cluster of its own, or another one, says nothing about it.
func TestTheDataOfATargetIsLookedFor(t *testing.T) {
	at := engine.Target{Engine: "mysql", Addresses: []string{"127.0.0.1:3306"}, Namespace: "shop"}
	on := &cluster.Cluster{Name: "shop", Engine: empty{}, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Target: at}}, nil
	}}
	for name, c := range map[string]struct {
		target  *spec.ExistingCluster
		prepare spec.Prepare
		found   int
		must    bool
	}{
		"by its name":         {&spec.ExistingCluster{Name: "shop", Listed: true}, nil, 1, true},
		"by its address":      {&spec.ExistingCluster{Name: "mysql://127.0.0.1/shop", Address: at}, nil, 1, true},
		"prepared by a step":  {&spec.ExistingCluster{Name: "shop", Listed: true}, spec.Prepare{{}}, 1, false},
		"another cluster":     {&spec.ExistingCluster{Name: "orders", Listed: true}, nil, 0, false},
		"the trial's own lab": {nil, nil, 0, false},
	} {
		cell := &spec.Cell{Workload: tables{}, Source: "oltp_read_write", Prepare: c.prepare}
		all, err := DataAt(t.Context(), &spec.Trial{Existing: c.target, Cells: []*spec.Cell{cell, cell}}, on)
		if err != nil || len(all) != c.found || c.found > 0 && all[0].Must != c.must {
			t.Errorf("%s: %+v, %v", name, all, err)
			continue
		}
		if c.found > 0 && (!strings.Contains(all[0].Why, "there is no table sbtest1") || !strings.HasPrefix(all[0].Do, "create the data first: plimsoll load prepare --target ")) {
			t.Errorf("%s: %+v", name, all[0])
		}
	}
}
