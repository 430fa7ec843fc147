// Package spectest holds trials and parts for tests that read, plan and judge.
package spectest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// Parts stand for real ones where only reading, planning and judging are tested; nothing runs on them. Real engines are under test in
// trial/run.
func Parts() spec.Parts {
	return spec.Parts{
		Products: map[string]spec.Product{"mariadb": {Launcher: paperLauncher{}, Engine: paperEngine{}}, "mysql": {Launcher: paperLauncher{}, Engine: paperRing{}}},
		Faults:   []spec.Fault{paperFault("lab/freeze"), paperFault("lab/restart"), growing("lab/add")},
		Workload: func(name, parameters *document.Node, _ engine.Engine) (workload.Workload, error) {
			if name.Text != "tpcc" && name.Text != "oltp" && name.Text != "ledger" {
				return nil, document.UnknownName(name, "workload", []string{"oltp", "tpcc"})
			}
			if name.Text == "ledger" {
				var p struct {
					Reads int `yaml:"reads"`
				}
				return paperLedger{}, parameters.Decode(&p)
			}
			var p struct {
				Scale int `yaml:"scale"`
			}
			return paperWorkload{}, parameters.Decode(&p)
		},
	}
}

type paperEngine struct{ engine.Engine }

func (paperEngine) Name() string { return "paper" }

// paperRing lets every statement choose how many replicas answer.
type paperRing struct{ paperEngine }

func (paperRing) Consistencies() []string { return []string{"LOCAL_QUORUM", "ONE"} }

type paperLauncher struct{ engine.Launcher }

func (paperLauncher) Releases() []engine.Release {
	return []engine.Release{{Product: "mariadb", Version: "11.4"}, {Product: "mysql", Version: "9.7"}}
}

func (paperLauncher) Needs(n engine.Node) (engine.Needs, error) {
	if n.Config["log_bin"] == "off" && n.Size > 1 {
		return engine.Needs{}, hint.With(errors.New("replicas need a log"), "leave log_bin out")
	}
	if size := n.Config["cache"]; strings.Contains(size, " ") {
		return engine.Needs{}, fmt.Errorf("cache is %q, expected a size", size)
	}
	return engine.Needs{}, nil
}

type paperWorkload struct{ workload.Workload }

func (paperWorkload) Operations() []string                         { return []string{"new_order", "payment"} }
func (paperWorkload) Connect(engine.Database, uint64) load.Connect { return nil }

// paperLedger keeps a ledger of nothing.
type paperLedger struct{ paperWorkload }

func (paperLedger) Name() string { return "ledger" }

func (paperLedger) Audit(context.Context, engine.Database, workload.Progress) (*workload.Audit, error) {
	return &workload.Audit{}, nil
}

// paperFault befalls nothing.
func paperFault(name string) spec.Fault {
	return spec.Fault{Name: name, Action: action.Action{Name: name, Version: 1, About: "Nothing.", New: func() action.Task { return &paperTask{} }}}
}

// growing adds a node.
func growing(name string) spec.Fault {
	f := paperFault(name)
	f.Grows = 1
	return f
}

type paperTask struct {
	action.Task
	Node string `yaml:"node" doc:"The node."`
}
