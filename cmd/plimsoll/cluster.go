package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/lab"
)

// labPrefix says that a cluster of the lab is meant, whatever the inventory calls by that name.
const labPrefix = "lab:"

// called is the one name of a cluster: of one of the lab without its prefix, unless the inventory has another of that name.
func called(name string, inv *inventory.Inventory) string {
	bare, isLab := strings.CutPrefix(name, labPrefix)
	if _, taken := inv.Clusters[bare]; isLab && taken {
		return name
	}
	return bare
}

// openSite opens a cluster of the inventory, else a lab cluster: NAME, or lab:NAME.
func openSite(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps) (*cluster.Cluster, error) {
	return siteBy(ctx, name, inv, deps, openLab)
}

// lookAtSite is openSite for who changes nothing: a lab cluster stays in the hands of whoever has it.
func lookAtSite(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps) (*cluster.Cluster, error) {
	return siteBy(ctx, name, inv, deps, lab.Look)
}

func siteBy(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps, open func(context.Context, string, lab.Deps) (*lab.Cluster, error)) (*cluster.Cluster, error) {
	asked := name
	name, isLab := strings.CutPrefix(name, labPrefix)
	if c, ok := inv.Clusters[name]; ok && !isLab {
		return catalog.SiteOf(ctx, name, c, deps.Machine)
	}
	opened, err := open(ctx, name, deps)
	if errors.Is(err, lab.ErrNoCluster) {
		return nil, noCluster(ctx, asked, inv, deps, err)
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
	site := lab.AsCluster(opened, e, deps.Machine)
	site.Release = opened.Close
	site.Name = called(labPrefix+name, inv)
	return site, nil
}

// noCluster is the refusal of a name that neither the inventory nor the lab knows.
func noCluster(ctx context.Context, name string, inv *inventory.Inventory, deps lab.Deps, err error) error {
	known := clusterNames(ctx, inv, deps)
	if len(known) == 0 {
		return usageError{text: err.Error(), hint: "there is no cluster yet: create one with plimsoll lab up mariadb, or add one to " + inventory.File}
	}
	return document.UnknownName(&document.Node{Kind: document.Scalar, Text: name}, "cluster", known)
}

// clusterNames lists the clusters of the inventory and of the lab.
func clusterNames(ctx context.Context, inv *inventory.Inventory, deps lab.Deps) []string {
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

// openLab takes a lab cluster in hand. One that is just being given back is waited for.
func openLab(ctx context.Context, name string, deps lab.Deps) (*lab.Cluster, error) {
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
