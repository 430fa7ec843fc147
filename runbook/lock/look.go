package lock

import (
	"context"
	"errors"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
)

// Looker is a ClusterLock that tells who has a cluster and changes nothing.
type Looker interface {
	// Look returns *action.ClaimedError when a run has the cluster; any other error says that it cannot be told.
	Look(ctx context.Context, cluster string) error
}

// Executing says which run a process of this store executes on a cluster now, from the store alone; nil if none does. *BusyError.
func (l *Locks) Executing(ctx context.Context, cluster string) error {
	lease, err := l.Store.Lease(ctx, LeaseName(cluster))
	if err != nil || lease.Holder == "" {
		return err
	}
	if some, err := l.Store.Executes(ctx, lease.Holder); err != nil || !some {
		return err
	}
	return l.busy(ctx, cluster, lease)
}

// Held says which run has a cluster, in this store or by its claim in the cluster itself; nil if none has. It changes nothing.
// *BusyError, *action.ClaimedError. One that has ended is passed over by whoever takes the cluster: left tells of it, beside an error too.
func (l *Locks) Held(ctx context.Context, on *cluster.Cluster, name string) (left *Unreleased, err error) {
	lease, err := l.Store.Lease(ctx, LeaseName(name))
	if err != nil {
		return nil, err
	}
	switch {
	case lease.Holder == "":
	case l.ended(ctx, lease.Holder):
		left = &Unreleased{Cluster: name, Run: lease.Holder}
	case lease.Expires.After(time.Now()) || !l.unmade(ctx, lease.Holder):
		return nil, l.busy(ctx, name, lease)
	}
	if l.ClusterLock == nil {
		return left, nil
	}
	looker, can := l.ClusterLock(on).(Looker)
	if !can {
		return left, nil
	}
	limited, cancel := context.WithTimeout(ctx, LongPatience)
	defer cancel()
	err = looker.Look(limited, name)
	claimed := (*action.ClaimedError)(nil)
	switch {
	case !errors.As(err, &claimed) || claimed.Run == "":
		return left, err
	case l.neverBegan(ctx, claimed.Run):
		return left, nil
	case l.ended(ctx, claimed.Run):
		return &Unreleased{Cluster: name, Run: claimed.Run}, nil
	}
	return left, err
}
