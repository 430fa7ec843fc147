package watchcmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/infra/aws"
	"plimsoll/inventory"
	"plimsoll/watch"
	"plimsoll/watch/cloud"
	"plimsoll/watch/storage"
)

// region asks one region for the metrics of all of its instances together.
func (f *Finder) region(ctx context.Context, at aws.Options) (*cloud.Region, error) {
	if known := f.regions[at]; known != nil {
		return known, nil
	}
	metrics, err := aws.OpenMetrics(ctx, at)
	if err != nil {
		return nil, err
	}
	if f.regions == nil {
		f.regions = map[aws.Options]*cloud.Region{}
	}
	f.regions[at] = cloud.NewRegion(metrics)
	return f.regions[at], nil
}

// atAWS are the instances that the settings have found by their tags; those that the inventory names too are left to it.
func (f *Finder) atAWS(ctx context.Context, inv *inventory.Inventory) ([]watch.Source, error) {
	set, deps := f.Set, f.Deps
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
		region, err := f.region(ctx, at)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			if named[one.Of.ID] {
				continue
			}
			source, err := catalog.WatchSource(one.Instance, engine.Target{Engine: "mysql", Addresses: []string{one.Address}, User: a.User, Password: password, Options: a.Options}, set.Queries)
			if err != nil {
				return nil, err
			}
			if one.Volume != nil {
				source.Volume, source.Derive = one.Volume, watch.FollowStorage(storage.NewModel(*one.Volume), &storage.Week{})
			}
			source.Collectors = append(source.Collectors, region.Collector(one.Of))
			all = append(all, source)
		}
	}
	return all, nil
}

// beside adds what AWS shows to the sources of a cluster of the inventory. Where AWS does not answer they are watched by SQL alone.
func (f *Finder) beside(ctx context.Context, sources []watch.Source, name string, c inventory.Cluster) []watch.Source {
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
		if c.AWS.Aurora != "" {
			f.tellOfClones(ctx, api, name)
		}
		region, err := f.region(ctx, at)
		if err != nil {
			return err
		}
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
		f.Log.Warn("AWS does not answer: watching by SQL only", "cluster", name, "error", err)
		return sources
	}
	for at, c := range more {
		sources[at].Collectors = append(sources[at].Collectors, c)
	}
	return sources
}

// tellOfClones warns once of each clone in the region that nobody needs any more. A watch only reads: a person or a job deletes it.
func (f *Finder) tellOfClones(ctx context.Context, api *aws.RDS, cluster string) {
	clones, err := api.Clones(ctx)
	if err != nil {
		f.Log.Debug("clones at AWS are not known", "cluster", cluster, "error", err)
		return
	}
	for _, c := range clones {
		key := api.Region + "/" + c.ID
		if f.overdue[key] || !c.Expired(time.Now()) {
			continue
		}
		if f.overdue == nil {
			f.overdue = map[string]bool{}
		}
		f.overdue[key] = true
		f.Log.Warn("a clone is no longer needed, and costs money", "clone", c.ID, "of", c.Source(), "needed_until", c.Tags[aws.DeleteAfterTag],
			"delete", "plimsoll runbook run aurora/delete-expired-clones --cluster "+cluster)
	}
}
