// Package catalog is the one list of everything that ships: engines, providers, changes and workloads. To add one, write
// it in its place, pass its port's conformance suite, and add a line here.
package catalog

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/cql"
	"plimsoll/engine/httpapi"
	"plimsoll/engine/mysql"
	"plimsoll/engine/mysql/launch"
	"plimsoll/engine/singlestore"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook/books"
	"plimsoll/trial/spec"
)

// Engines are the families of database.
func Engines() []engine.Engine {
	return []engine.Engine{
		mysql.Engine{},
		cql.Engine{},
		singlestore.Engine{}, // experimental: never tried on a real server
		httpapi.Engine{},
		httpapi.Engine{Secure: true},
	}
}

// Launchers run servers in a lab.
func Launchers() []engine.Launcher {
	return []engine.Launcher{
		launch.Servers{},
		launch.RDS{},
		cql.Servers{},
	}
}

// Products are what a lab can run, by the name a user calls them.
func Products() map[string]spec.Product {
	return map[string]spec.Product{
		"mariadb":   {Engine: mysql.Engine{}, Launcher: launch.Servers{}},
		"mysql":     {Engine: mysql.Engine{}, Launcher: launch.Servers{}},
		"rds-mysql": {Engine: mysql.Engine{}, Launcher: launch.RDS{}},
		"cassandra": {Engine: cql.Engine{}, Launcher: cql.Servers{}},
	}
}

// Machine is where labs run and changes are made from here.
func Machine() (infra.Machine, error) { return local.New() }

// Parts is what trials are put together from.
func Parts() spec.Parts { return PartsFor(readInventory) }

// PartsFor is what trials are put together from where the clusters that exist are those of an inventory.
func PartsFor(inv func() (*inventory.Inventory, error)) spec.Parts {
	return spec.Parts{
		Products: Products(), Engines: enginesByName(), Inventory: inv, OpenCluster: openListed(inv), Workload: Workload, Loader: Loader, Loaders: loaderNames, Faults: Faults(),
		Actions: Actions(), Books: books.Names(), Runbook: Runbook, ClusterLock: ClusterLock,
		Watch: liveOfTrial, CheckWatched: checkWatchedByTrial,
	}
}

func enginesByName() map[string]engine.Engine {
	all := map[string]engine.Engine{}
	for _, e := range Engines() {
		all[e.Name()] = e
	}
	return all
}

func readInventory() (*inventory.Inventory, error) { return inventory.Open() }

// openListed opens a cluster by its name in an inventory.
func openListed(read func() (*inventory.Inventory, error)) func(context.Context, string, infra.Machine) (*cluster.Cluster, error) {
	return func(ctx context.Context, name string, here infra.Machine) (*cluster.Cluster, error) {
		inv, err := read()
		if err != nil {
			return nil, err
		}
		c, known := inv.Clusters[name]
		if !known {
			return nil, fmt.Errorf("%s is not in %s any more", name, inventory.File)
		}
		return OpenCluster(ctx, name, c, here)
	}
}

// EngineOf returns the engine of a target.
func EngineOf(t engine.Target) (engine.Engine, error) {
	for _, e := range Engines() {
		if e.Name() == t.Engine {
			return e, nil
		}
	}
	names := document.SortedKeys(enginesByName())
	err := fmt.Errorf("unknown engine %q", t.Engine)
	if near := document.Nearest(t.Engine, names); near != "" {
		return nil, hint.With(err, "did you mean "+near+"?")
	}
	return nil, hint.With(err, "expected "+strings.Join(names, ", "))
}
