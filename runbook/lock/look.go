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

// Held says which run has a cluster, in this store or by its claim in the cluster itself; nil if none has. It changes nothing.
// *BusyError, *action.ClaimedError.
func (l *Locks) Held(ctx context.Context, on *cluster.Cluster, name string) error {
	lease, err := l.Store.Lease(ctx, LeaseName(name))
	if err != nil {
		return err
	}
	ended := lease.Holder != "" && (l.ended(ctx, lease.Holder) || lease.Expires.Before(time.Now()) && l.unmade(ctx, lease.Holder))
	if lease.Holder != "" && !ended {
		return l.busy(ctx, name, lease)
	}
	if l.ClusterLock == nil {
		return nil
	}
	looker, can := l.ClusterLock(on).(Looker)
	if !can {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, LongPatience)
	defer cancel()
	err = looker.Look(limited, name)
	if claimed := (*action.ClaimedError)(nil); errors.As(err, &claimed) && claimed.Run != "" && l.ended(ctx, claimed.Run) {
		return nil // what it left is passed over when the cluster is taken
	}
	return err
}
