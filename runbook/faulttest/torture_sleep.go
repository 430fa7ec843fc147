package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/internal/poll"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// bedtime is the entry after which the owner sleeps: before the first intent of any runbook, which would be the fifth at least.
const bedtime = 4

// thief is who takes a cluster from a run whose owner sleeps.
type thief interface {
	// take is called when the run's lease has run out, until it returns nil.
	take(ctx context.Context, store *durable.Store) error
	// giveBack returns what was taken.
	giveBack(ctx context.Context, store *durable.Store) error
}

// sleep pauses the owner before its first intent, takes the cluster for another meanwhile, and looks that the owner does not
// act when it wakes: once for a run of the same store, once for one of another host, which only the claim in the cluster
// itself tells of. A runbook that locks nothing has nothing that could be taken from it.
func (t *Torture) sleep(ctx context.Context, o *Report) error {
	if t.Request.Book.Lock == runbook.LockNone {
		return nil
	}
	o.Slept = t.Pause
	if err := robOwner(ctx, t, o, "the owner sleeps, another run takes the cluster", neighbour{lock.LeaseName(t.Request.Cluster)}); err != nil {
		return err
	}
	if t.Elsewhere == nil {
		return nil
	}
	on, err := t.Elsewhere(ctx)
	if err != nil {
		return err
	}
	if clusterLock := t.ClusterLock(on); clusterLock != nil {
		err = robOwner(ctx, t, o, "the owner sleeps, another host takes the cluster", stranger{clusterLock, action.Claim{
			Cluster: t.Request.Cluster, Run: "another", Holder: "another host", Epoch: 1, For: time.Hour, Break: true,
		}})
	}
	return errors.Join(err, on.Close())
}

// robOwner lets a thief take the cluster while the owner sleeps. An owner that fell asleep in the middle of a write to the store
// keeps everybody out of it: then it is tried again.
func robOwner(ctx context.Context, t *Torture, o *Report, test string, who thief) error {
	o.Tries++
	for try := 1; ; try++ {
		t.Say(test)
		folder := filepath.Join(t.Folder, fmt.Sprintf("%s, %d", test, try))
		stolen := false
		fate, err := t.Child(ctx, folder, durable.Moment{Number: bedtime}, func(ctx context.Context) (err error) {
			night := time.NewTimer(t.Pause)
			defer night.Stop()
			if err := stealLock(ctx, t, folder, who); err != nil {
				return err
			}
			stolen = true
			select {
			case <-night.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		switch {
		case fate.Cut && !stolen && ctx.Err() == nil && try < 3:
		case err != nil:
			return fmt.Errorf("%s: %w: %s", test, err, fate.Said)
		case !fate.Cut:
			return fmt.Errorf("%s: it did not get that far: %s", test, fate.Said)
		}
		if err := t.robbed(ctx, o, test, folder, who, stolen); err != nil || stolen {
			return err
		}
	}
}

// robbed looks what the owner did when it woke, and gives all back.
func (t *Torture) robbed(ctx context.Context, o *Report, test, folder string, who thief, stolen bool) (err error) {
	s, err := t.reopen(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	run, entries, err := only(ctx, s)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("%s: %w", test, err)
		}
		if stolen && e.Kind == journal.Intended && entry.Number > bedtime {
			o.trouble(test, e.Step, "it was not fenced: it acted after another run had taken the cluster")
		}
	}
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	end := t.giveBack
	if stolen {
		if !st.Outcome.Over() { // others have had its cluster: it may not be taken back any more
			end = t.giveUp
		}
		if err := who.giveBack(ctx, s.Store); err != nil {
			return err
		}
	}
	if err := end(ctx, s, run); err != nil {
		return fmt.Errorf("%s, undone: %w", test, err)
	}
	return t.aftermath(ctx, o, s, test, run)
}

// stealLock waits until the run's lease has run out, and takes the cluster.
func stealLock(ctx context.Context, t *Torture, folder string, who thief) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Pause+time.Minute, errors.New("the cluster cannot be taken from an owner that sleeps"))
	defer cancel()
	return poll.Try(ctx, 50*time.Millisecond, func() error { return tryToSteal(ctx, t, folder, who) })
}

func tryToSteal(ctx context.Context, t *Torture, folder string, who thief) (err error) {
	store, err := openStore(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	lease, err := store.Lease(ctx, lock.LeaseName(t.Request.Cluster))
	if err != nil {
		return err
	}
	if lease.Holder == "" || time.Now().Before(lease.Expires) {
		return errors.New("its lease has not run out")
	}
	return who.take(ctx, store)
}

// neighbour is another run of the same store.
type neighbour struct{ lease string }

func (n neighbour) take(ctx context.Context, store *durable.Store) error {
	lease, err := store.Lease(ctx, n.lease)
	if err != nil {
		return err
	}
	if err := store.Release(ctx, n.lease, lease.Holder); err != nil {
		return err
	}
	_, err = store.Acquire(ctx, n.lease, "another", time.Hour)
	return err
}

func (n neighbour) giveBack(ctx context.Context, store *durable.Store) error {
	return store.Release(ctx, n.lease, "another")
}

// stranger is a run of another store, on another host: it sees the claim in the cluster alone.
type stranger struct {
	clusterLock lock.ClusterLock
	claim       action.Claim
}

func (s stranger) take(ctx context.Context, _ *durable.Store) error {
	return s.clusterLock.Claim(ctx, s.claim)
}

func (s stranger) giveBack(ctx context.Context, _ *durable.Store) error {
	return s.clusterLock.Clear(ctx, s.claim)
}
