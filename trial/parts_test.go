package trial

import (
	"context"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/workload"
)

// The parts here stand for real ones where only reading, planning and judging are tested; nothing runs on them. Real
// engines are under test in run_test.go.
func testParts() Parts {
	return Parts{
		Products: map[string]Product{"mariadb": {Launcher: paperLauncher{}}, "mysql": {Launcher: paperLauncher{}}},
		Changes:  []Change{paperChange("lab/freeze"), paperChange("lab/restart")},
		Workload: func(name, parameters *document.Node, _ engine.Engine) (workload.Workload, error) {
			if name.Text != "tpcc" && name.Text != "oltp" {
				return nil, document.UnknownName(name, "workload", []string{"oltp", "tpcc"})
			}
			var p struct {
				Scale int `yaml:"scale"`
			}
			return paperWorkload{}, parameters.Decode(&p)
		},
	}
}

type paperLauncher struct{ engine.Launcher }

func (paperLauncher) Releases() []engine.Release {
	return []engine.Release{{Product: "mariadb", Version: "11.4"}, {Product: "mysql", Version: "9.7"}}
}

type paperWorkload struct{ workload.Workload }

func (paperWorkload) Operations() []string                         { return []string{"new_order", "payment"} }
func (paperWorkload) Connect(engine.Database, uint64) load.Connect { return nil }

type paperChange string

func (c paperChange) Name() string { return string(c) }

func (c paperChange) Check(call Call, nodes int) error {
	var in struct {
		Node string `yaml:"node"`
	}
	if call.With == nil {
		return nil
	}
	return call.With.Decode(&in)
}

func (c paperChange) Run(context.Context, *lab.Cluster, Call, func(series.Event)) error { return nil }
