// Package runs opens the service that executes runbooks, on the store of this machine or the one that the inventory names.
package runs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/durable"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/lock"
	"plimsoll/trial/underway"
	"plimsoll/watch/settings"
)

// Service is what the runbook commands work with: the service on this machine's store.
type Service struct {
	*execute.Service
	Inventory *inventory.Inventory                                                // the clusters that Open and Look know beside those of the lab
	Look      func(ctx context.Context, cluster string) (*cluster.Cluster, error) // in place of Open, for who changes nothing
	Approves  bool                                                                // every step that asks: nobody watches a fault test
}

func (d *Service) close() error { return d.Store.Close() }

// Open opens the store and wires the service.
func Open(ctx context.Context) (*Service, error) {
	inv, err := inventory.Open()
	if err != nil {
		return nil, err
	}
	deps, err := home.LabDeps()
	if err != nil {
		return nil, err
	}
	rules, err := runbook.ReadRules(inv.Gate, inv.Approvals)
	if err != nil {
		return nil, err
	}
	options, err := home.StateOptions(ctx, inv, deps)
	if err != nil {
		return nil, err
	}
	test := faultTestOf(ctx)
	if test != nil { // it dies, or approves everything: none but a lab is let near it
		options.Folder, options.Postgres, options.Written = test.Store, "", test.Written
		maps.DeleteFunc(inv.Clusters, func(_ string, c inventory.Cluster) bool { return c.Environment != cluster.Lab })
	}
	store, err := durable.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	who, known, host := home.Person()
	look := func(ctx context.Context, name string) (*cluster.Cluster, error) {
		return home.LookAtCluster(ctx, name, inv, deps)
	}
	d := &Service{Inventory: inv, Look: look}
	d.Service = &execute.Service{
		Rules: rules, Shared: inv.Shared,
		Store: store, Actions: catalog.Actions(), User: who, Known: known, Holder: fmt.Sprintf("%s (process %d on %s)", who, os.Getpid(), host),
		Call: func(name string) string { return home.Called(name, inv) },
		Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			on, err := home.OpenCluster(ctx, name, inv, deps)
			if errors.Is(err, infra.ErrLocked) { // of a lab, which knows the process and not its run
				if busy := (*lock.BusyError)(nil); errors.As(execute.Executing(ctx, d.Service, home.Called(name, inv)), &busy) {
					return nil, busy
				}
			}
			return on, err
		},
		Meter:       func(on *cluster.Cluster) execute.Meter { return execute.NewNodeMeter(on) },
		Watch:       watchOfRun,
		ClusterLock: underway.Telling(catalog.ClusterLock, deps.Machine, deps.Home),
	}
	if test != nil {
		d.Approves, d.TTL = test.Approves, test.Lease
	}
	return d, nil
}

// watchOfRun reads the series that a runbook names, with the person's own queries among them.
func watchOfRun(ctx context.Context, on *cluster.Cluster) (execute.Watched, error) {
	set, err := settings.Read(settings.File)
	if err != nil {
		return nil, err
	}
	return catalog.Live(ctx, on, set.Queries)
}

// ReadRunbook reads a file, or a shipped runbook by its name.
func ReadRunbook(name string) (*runbook.Runbook, error) {
	return catalog.Runbook(&document.Node{Kind: document.Scalar, Text: name})
}

// With opens the service for one command.
func With(ctx context.Context, f func(context.Context, *Service) error) error {
	d, err := Open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, d), d.close())
}
