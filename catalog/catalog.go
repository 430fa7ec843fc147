// Package catalog is the one list of everything that ships: engines, providers, changes and workloads. To add one, write
// it in its place, pass its port's conformance suite, and add a line here.
package catalog

import (
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/trial"
	"plimsoll/trial/change"
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
		mysql.Servers{},
	}
}

// Products are what a lab can run, by the name a user calls them.
func Products() map[string]trial.Product {
	return map[string]trial.Product{
		"mariadb": {Engine: mysql.Engine{}, Launcher: mysql.Servers{}},
		"mysql":   {Engine: mysql.Engine{}, Launcher: mysql.Servers{}},
	}
}

// Machine is where labs run and changes are made from here.
func Machine() (infra.Machine, error) { return local.New() }

// Parts is what trials are put together from.
func Parts() trial.Parts {
	return trial.Parts{Products: Products(), Workload: Workload, Changes: change.All()}
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
