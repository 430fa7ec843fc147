package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/cluster"
	"plimsoll/hint"
)

// Opener opens a cluster by its name, for its caller to close. Its errors name the cluster.
type Opener func(ctx context.Context, cluster string) (*cluster.Cluster, error)

// OpenAll opens a run's own cluster, from which the others that it has locked can be reached.
func OpenAll(ctx context.Context, open Opener, own string, all []string) (*cluster.Cluster, error) {
	on, err := open(ctx, own)
	if err != nil {
		return nil, err
	}
	if len(all) <= 1 {
		return on, nil
	}
	on.Others = func(ctx context.Context, name string) (*cluster.Cluster, error) {
		if !slices.Contains(all, name) {
			return nil, &hint.PermanentError{Reason: fmt.Sprintf("the run has not locked cluster %s", name), Advice: "name it in an input of type cluster"}
		}
		peer, err := open(ctx, name)
		if err != nil {
			return nil, err
		}
		return peer, nil
	}
	for _, name := range all {
		if _, err := on.Cluster(ctx, name); err != nil {
			return nil, errors.Join(err, on.Close())
		}
	}
	return on, nil
}
