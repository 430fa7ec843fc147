package home

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/lab"
)

// LabPrefix says that a cluster of the lab is meant, whatever the inventory calls by that name.
const LabPrefix = "lab:"

// Called is the one name of a cluster: of one of the lab without its prefix, unless the inventory has another of that name.
func Called(name string, inv *inventory.Inventory) string {
	bare, isLab := strings.CutPrefix(name, LabPrefix)
	if _, taken := inv.Clusters[bare]; isLab && taken {
		return name
	}
	return bare
}

// OpenCluster opens a cluster of the inventory, else a lab cluster: NAME, or lab:NAME.
func OpenCluster(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps) (*cluster.Cluster, error) {
	return openBy(ctx, name, inv, deps, OpenLab)
}

// LookAtCluster is OpenCluster for a caller that only reads: a lab cluster stays with the process that holds it.
func LookAtCluster(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps) (*cluster.Cluster, error) {
	return openBy(ctx, name, inv, deps, lab.Look)
}

// Look is LookAtCluster by the inventory that there is, which it returns too, with what labs on this machine work with.
func Look(ctx context.Context, name string) (*cluster.Cluster, *inventory.Inventory, lab.Deps, error) {
	inv, deps, err := surroundings()
	if err != nil {
		return nil, nil, lab.Deps{}, err
	}
	on, err := LookAtCluster(ctx, name, inv, deps)
	return on, inv, deps, err
}

func openBy(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps, open func(context.Context, string, lab.Deps) (*lab.Cluster, error)) (*cluster.Cluster, error) {
	asked := name
	name, isLab := strings.CutPrefix(name, LabPrefix)
	if c, ok := inv.Clusters[name]; ok && !isLab {
		return catalog.OpenCluster(ctx, name, c, deps.Machine)
	}
	opened, err := open(ctx, name, deps)
	if errors.Is(err, lab.ErrNoCluster) {
		return nil, NoCluster(ctx, asked, inv, deps, err)
	}
	if err != nil {
		return nil, err
	}
	target, err := opened.Target()
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	on := lab.AsCluster(opened, e, deps.Machine)
	on.Release = opened.Close
	on.Name = Called(LabPrefix+name, inv)
	catalog.LookAtReturns(on)
	return on, nil
}

// NoCluster is the refusal of a name that neither the inventory nor the lab knows.
func NoCluster(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps, err error) error {
	if bare, isLab := strings.CutPrefix(name, LabPrefix); isLab {
		return noLab(ctx, bare, inv, deps)
	}
	known := ClusterNames(ctx, inv, deps)
	if len(known) == 0 {
		return console.UsageError{Text: err.Error(), Hint: "there is no cluster yet: create one with plimsoll lab up mariadb, or add one to " + inventory.File}
	}
	return document.UnknownName(&document.Node{Kind: document.Scalar, Text: name}, "cluster", known)
}

// noLab is the refusal of a cluster that is asked for as one of the lab.
func noLab(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps) error {
	refusal := console.UsageError{Text: "there is no lab cluster " + name, Hint: "to create one: plimsoll lab up mariadb --name " + hint.Quoted(name)}
	if slices.ContainsFunc(deps.Launchers, func(l engine.Launcher) bool {
		return slices.ContainsFunc(l.Releases(), func(r engine.Release) bool { return r.Product == name })
	}) {
		refusal.Hint = "to create one: plimsoll lab up " + name
	}
	if there := ClusterNames(ctx, &inventory.Inventory{}, deps); len(there) > 0 {
		refusal.Hint = "there is " + LabPrefix + strings.Join(there, ", "+LabPrefix) + "; " + refusal.Hint
	}
	if _, is := inv.Clusters[name]; is {
		refusal.Hint = "the cluster of the inventory is called " + name + "; " + refusal.Hint
	}
	return refusal
}

// ClusterNames lists the clusters of the inventory and of the lab.
func ClusterNames(ctx context.Context, inv *inventory.Inventory, deps lab.Deps) []string {
	names := document.SortedKeys(inv.Clusters)
	made, err := lab.List(ctx, deps)
	if err != nil {
		return names // for messages and completion alone
	}
	for _, c := range made {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// OpenLab takes hold of a lab cluster. One that is just being given back is waited for.
func OpenLab(ctx context.Context, name string, deps lab.Deps) (*lab.Cluster, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Second); ; {
		cluster, err := lab.Open(ctx, name, deps)
		if !errors.Is(err, infra.ErrLocked) || time.Now().After(end) {
			return cluster, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
