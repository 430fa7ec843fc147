package catalog

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
	"plimsoll/watch"
	"plimsoll/watch/cloud"
	"plimsoll/watch/collect"
	"plimsoll/watch/live"
	"plimsoll/watch/store"
)

// Live reads the series of a cluster as a watch would, until it is closed: for guardrails, proofs and signals that name them. The queries
// are a person's own.
func Live(ctx context.Context, on *cluster.Cluster, queries []collect.Query) (*live.Reader, error) {
	at := map[string]watch.Source{} // a node is read by the same collectors all the time
	var region *cloud.Region
	return live.Open(ctx, func(ctx context.Context) ([]watch.Source, error) {
		nodes, err := on.List(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the nodes: %w", err)
		}
		var all []watch.Source
		for _, n := range nodes {
			source, known := at[n.Name]
			if !known {
				if source, err = liveSource(on, n, queries); err != nil {
					return nil, err
				}
				if on.AWS != nil && n.Instance != "" {
					if region, err = besideSQL(ctx, on, n, region, &source); err != nil {
						return nil, err
					}
				}
				at[n.Name] = source
			}
			all = append(all, source)
		}
		return all, nil
	})
}

func liveSource(on *cluster.Cluster, n cluster.Node, queries []collect.Query) (watch.Source, error) {
	i := watch.Instance{Name: on.Name + "/" + n.Name, Cluster: on.Name, Node: n.Name, Environment: on.Environment}
	source, err := WatchSource(i, n.Target, queries)
	collect.Attend(source.Collectors)
	if err == nil && n.Machine != nil {
		if disk := collect.Disk(source.Collectors, n.Machine); disk != nil {
			source.Collectors = append(source.Collectors, disk)
		}
	}
	return source, err
}

// besideSQL adds what CloudWatch shows of a node.
func besideSQL(ctx context.Context, on *cluster.Cluster, n cluster.Node, region *cloud.Region, to *watch.Source) (*cloud.Region, error) {
	options := aws.Options{Region: on.AWS.Region, Profile: on.AWS.Profile}
	if region == nil {
		metrics, err := aws.OpenMetrics(ctx, options)
		if err != nil {
			return nil, err
		}
		region = cloud.NewRegion(metrics)
	}
	api, err := aws.OpenRDS(ctx, options)
	if err != nil {
		return region, err
	}
	i, err := api.Instance(ctx, n.Instance)
	if err != nil {
		return region, err
	}
	to.Collectors = append(to.Collectors, region.Collector(i))
	return region, nil
}

// writesSeries tells whether a watch can write a series of that name.
func writesSeries(name string) bool {
	_, can := watch.Writes(name)
	return can
}

// CheckWatched refuses an expression in PromQL that cannot be understood, or that names a series which no watch writes.
func CheckWatched(expression string) error {
	names, err := store.Named(expression)
	if err != nil {
		return fmt.Errorf("watch[%q]: %w", expression, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("watch[%q] names no series", expression)
	}
	for _, name := range names {
		if near, can := watch.Writes(name); !can {
			err := fmt.Errorf("unknown series %q: plimsoll watch does not record it", name)
			if near != "" {
				return hint.With(err, fmt.Sprintf("did you mean %q?", near))
			}
			return hint.With(err, "docs/watch.md lists the series; an instance shows its own at /metrics of plimsoll watch with --listen")
		}
	}
	return nil
}
