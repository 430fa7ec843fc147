package lock

import (
	"cmp"
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

// EndedError says that the run has ended which has a cluster: whoever takes it passes that over.
type EndedError struct{ Unreleased }

func (e *EndedError) Error() string { return e.String() }

// Held says which run has a cluster, in this store or by its claim in the cluster itself; nil if none has. It changes nothing.
// *BusyError, *action.ClaimedError, *EndedError.
func (l *Locks) Held(ctx context.Context, on *cluster.Cluster, name string) error {
	lease, err := l.Store.Lease(ctx, LeaseName(name))
	if err != nil {
		return err
	}
	var left error
	switch {
	case lease.Holder == "":
	case l.ended(ctx, lease.Holder):
		left = &EndedError{Unreleased{Cluster: name, Run: lease.Holder}}
	case lease.Expires.After(time.Now()) || !l.unmade(ctx, lease.Holder):
		return l.busy(ctx, name, lease)
	}
	if l.ClusterLock == nil {
		return left
	}
	looker, can := l.ClusterLock(on).(Looker)
	if !can {
		return left
	}
	limited, cancel := context.WithTimeout(ctx, LongPatience)
	defer cancel()
	err = looker.Look(limited, name)
	if claimed := (*action.ClaimedError)(nil); errors.As(err, &claimed) && claimed.Run != "" && l.ended(ctx, claimed.Run) {
		return &EndedError{Unreleased{Cluster: name, Run: claimed.Run}}
	}
	return cmp.Or(err, left)
}
