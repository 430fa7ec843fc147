package inventory

import (
	"context"
	"maps"

	"plimsoll/cluster"
	"plimsoll/infra"
)

// Volumes are those of one cluster at a provider who has many: they are called by what the inventory says of its nodes, and else by
// the tags cluster, node and volume.
type Volumes struct {
	infra.Volumes
	Cluster string
	Nodes   []Node
}

// List returns the volumes of the cluster with these tags. One that the inventory names is found by what it says there, whatever its
// tags are.
func (v Volumes) List(ctx context.Context, tags map[string]string) ([]infra.Volume, error) {
	if is, named := v.named(tags); named {
		if is.ID == "" {
			return v.Volumes.List(ctx, is.Tags)
		}
		one, err := v.Describe(ctx, is.ID)
		if err != nil {
			return nil, err
		}
		return []infra.Volume{one}, nil
	}
	return v.Volumes.List(ctx, v.own(tags))
}

// Create makes a volume that carries the cluster's name.
func (v Volumes) Create(ctx context.Context, spec infra.VolumeSpec) (infra.Volume, error) {
	spec.Tags = v.own(spec.Tags)
	return v.Volumes.Create(ctx, spec)
}

func (v Volumes) own(tags map[string]string) map[string]string {
	all := maps.Clone(tags)
	if all == nil {
		all = map[string]string{}
	}
	all[cluster.ClusterTag] = v.Cluster
	return all
}

func (v Volumes) named(tags map[string]string) (Volume, bool) {
	for _, n := range v.Nodes {
		if n.Name == tags[cluster.NodeTag] {
			is, named := n.Volumes[tags[cluster.VolumeTag]]
			return is, named
		}
	}
	return Volume{}, false
}
