// Package catalog is the one list of everything that ships: engines, providers, changes and workloads. To add one, write
// it in its place, pass its port's conformance suite, and add a line here.
package catalog

import (
	"fmt"
	"slices"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/trial"
	"plimsoll/trial/change"
	"plimsoll/workload"
)

// Engines are the families of database.
func Engines() []engine.Engine {
	return []engine.Engine{
		mysql.Engine{},
	}
}

// Launchers run servers in a lab.
func Launchers() []engine.Launcher {
	return []engine.Launcher{
		mysql.Launcher{},
	}
}

// Products are what a lab can run, by the name a user calls them.
func Products() map[string]trial.Product {
	return map[string]trial.Product{
		"mariadb": {Engine: mysql.Engine{}, Launcher: mysql.Launcher{}},
		"mysql":   {Engine: mysql.Engine{}, Launcher: mysql.Launcher{}},
	}
}

// Machine is where labs run and changes are made from here.
func Machine() (infra.Machine, error) { return local.New() }

// Workloads are what a load can consist of, beside a person's own files.
func Workloads() []workload.Maker {
	return slices.Concat(
		workload.OLTP(),
		workload.TPCC(),
		workload.YCSB(),
	)
}

// Parts is what trials are put together from.
func Parts() trial.Parts {
	return trial.Parts{Products: Products(), Workloads: Workloads(), Changes: change.All()}
}

// EngineOf returns the engine of a target.
func EngineOf(t engine.Target) (engine.Engine, error) {
	for _, e := range Engines() {
		if e.Name() == t.Engine {
			return e, nil
		}
	}
	return nil, fmt.Errorf("there is no engine %q", t.Engine)
}
