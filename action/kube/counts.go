package kube

import (
	"context"
	"fmt"
	"strconv"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra/kube"
)

// ring is the ring as one of the nodes sees it.
func ring(ctx context.Context, on *cluster.Cluster) (engine.Ring, error) {
	db, err := on.Database(ctx, "")
	if err != nil {
		return engine.Ring{}, err
	}
	ringed, ok := engine.As[engine.Ringed](db)
	if !ok {
		return engine.Ring{}, fmt.Errorf("cluster %s shows no ring", on.Name)
	}
	return ringed.Ring(ctx, "")
}

// ringCounts asks the ring for the members of a data centre.
func ringCounts(datacentre func(o kube.Object) string) func(context.Context, *cluster.Cluster, kube.Object, int64) (string, error) {
	return func(ctx context.Context, on *cluster.Cluster, o kube.Object, want int64) (string, error) {
		seen, err := ring(ctx, on)
		if err != nil {
			return "", err
		}
		well, all := int64(0), int64(0)
		for _, m := range seen.Members {
			if m.DataCentre != datacentre(o) {
				continue
			}
			all++
			if m.Up && m.Part == engine.Normal {
				well++
			}
		}
		if well != want || all != want {
			return fmt.Sprintf("the ring: %d nodes are up and normal of %d members, expected %d", well, all, want), nil
		}
		return "", nil
	}
}

// counted asks a server for a number of members.
func counted(ctx context.Context, on *cluster.Cluster, query, what string, want int64) (string, error) {
	said, err := on.Value(ctx, "", query)
	if err == nil && said != strconv.FormatInt(want, 10) {
		return fmt.Sprintf("%d %s; now there are %s", want, what, said), nil
	}
	return "", err
}

// followersCounted asks the primary who follows it.
func followersCounted(ctx context.Context, on *cluster.Cluster, want int64) (string, error) {
	db, err := on.Database(ctx, "")
	if err != nil {
		return "", err
	}
	r, ok := engine.As[engine.Replicated](db)
	if !ok {
		return "", fmt.Errorf("cluster %s does not report its roles in replication", on.Name)
	}
	status, err := r.ReplicationStatus(ctx)
	if err == nil && int64(status.Followers) != want {
		return fmt.Sprintf("%d replicas to replicate from the primary; now %d do", want, status.Followers), nil
	}
	return "", err
}
