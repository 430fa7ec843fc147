package underway

import (
	"context"
	"errors"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/runbook/lock"
)

// Telling is a way to a cluster's lock that says, of a lock that a trial has, whether the trial's process has died on this machine.
func Telling(of func(*cluster.Cluster) lock.ClusterLock, files infra.Files, home string) func(*cluster.Cluster) lock.ClusterLock {
	if of == nil {
		return nil
	}
	return func(on *cluster.Cluster) lock.ClusterLock {
		inner := of(on)
		if inner == nil {
			return nil
		}
		telling := tellingLock{inner, files, home}
		if looker, can := inner.(lock.Looker); can {
			return lookingLock{telling, looker}
		}
		return telling
	}
}

type tellingLock struct {
	lock.ClusterLock
	files infra.Files
	home  string
}

// Claim implements lock.ClusterLock.
func (l tellingLock) Claim(ctx context.Context, c action.Claim) error {
	return l.told(ctx, l.ClusterLock.Claim(ctx, c))
}

var _ lock.Watcher = tellingLock{}

// Watch implements lock.Watcher.
func (l tellingLock) Watch(ctx context.Context, c action.Claim) error {
	return lock.Watch(ctx, l.ClusterLock, c)
}

type lookingLock struct {
	tellingLock
	looker lock.Looker
}

// Look implements lock.Looker.
func (l lookingLock) Look(ctx context.Context, cluster string) error {
	return l.told(ctx, l.looker.Look(ctx, cluster))
}

// told adds to a refusal which process has died that had the cluster.
func (l tellingLock) told(ctx context.Context, err error) error {
	var claimed *action.ClaimedError
	if !errors.As(err, &claimed) || claimed.Run == "" {
		return err
	}
	trials, failed := List(ctx, l.files, l.home)
	if failed != nil {
		return err // it is said without
	}
	for _, t := range trials {
		if t.Died && slices.Contains(t.Runs, claimed.Run) {
			claimed.Died = t.Process
		}
	}
	return err
}
