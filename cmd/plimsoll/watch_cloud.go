package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/infra/aws"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/cloud"
	"plimsoll/watch/settings"
	"plimsoll/watch/storage"
)

// foundSources are the instances that the settings have found by their tags; those that the inventory names too are left to it.
func foundSources(ctx context.Context, set *settings.Settings, inv *inventory.Inventory, deps lab.Deps) ([]watch.Source, error) {
	named := map[string]bool{}
	for _, c := range inv.Clusters {
		for _, n := range c.Nodes {
			named[n.Instance] = true
		}
	}
	var all []watch.Source
	for _, a := range set.AWS {
		password, err := a.Password.Value(ctx, deps.Machine)
		if err != nil {
			return nil, fmt.Errorf("instances at AWS: %w", err)
		}
		at := aws.Options{Region: a.Region, Profile: a.Profile}
		api, err := aws.OpenRDS(ctx, at)
		if err != nil {
			return nil, err
		}
		found, err := cloud.Discover(ctx, api, a.Tags, a.Environment)
		if err != nil {
			return nil, fmt.Errorf("find instances at AWS: %w", err)
		}
		metrics, err := aws.OpenMetrics(ctx, at)
		if err != nil {
			return nil, err
		}
		region := cloud.NewRegion(metrics)
		for _, f := range found {
			if named[f.Of.ID] {
				continue
			}
			source, err := catalog.WatchSource(f.Instance, engine.Target{Engine: "mysql", Addresses: []string{f.Address}, User: a.User, Password: password, Options: a.Options}, set.Queries)
			if err != nil {
				return nil, err
			}
			if f.Volume != nil {
				source.Volume, source.Derive = f.Volume, watch.FollowStorage(storage.NewModel(*f.Volume), &storage.Week{})
			}
			source.Collectors = append(source.Collectors, region.Collector(f.Of))
			all = append(all, source)
		}
	}
	return all, nil
}

// beside adds what AWS shows to the sources of a cluster of the inventory. Where AWS does not answer they are watched by SQL alone.
func beside(ctx context.Context, sources []watch.Source, name string, c inventory.Cluster, log *slog.Logger) []watch.Source {
	if c.AWS == nil || !slices.ContainsFunc(c.Nodes, func(n inventory.Node) bool { return n.Instance != "" }) {
		return sources
	}
	more := map[int]watch.Collector{}
	if err := func() error {
		at := aws.Options{Region: c.AWS.Region, Profile: c.AWS.Profile}
		api, err := aws.OpenRDS(ctx, at)
		if err != nil {
			return err
		}
		metrics, err := aws.OpenMetrics(ctx, at)
		if err != nil {
			return err
		}
		region := cloud.NewRegion(metrics)
		for _, n := range c.Nodes {
			at := slices.IndexFunc(sources, func(s watch.Source) bool { return s.Instance.Node == n.Name })
			if n.Instance == "" || at < 0 {
				continue
			}
			i, err := api.Instance(ctx, n.Instance)
			if err != nil {
				return err
			}
			more[at] = region.Collector(i)
		}
		return nil
	}(); err != nil {
		log.Warn("AWS does not answer: watched by SQL alone", "cluster", name, "error", err)
		return sources
	}
	for at, c := range more {
		sources[at].Collectors = append(sources[at].Collectors, c)
	}
	return sources
}
