package lock

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// ended tells whether a run of this store has ended for good.
func (l *Locks) ended(ctx context.Context, run string) bool {
	st, err := journal.Load(ctx, l.Store, l.Actions, run)
	return err == nil && st.Outcome.Over()
}

// Clearing is how long a cluster may take to let the claim of a run that has ended be cleared: it need not be, to be passed over.
const Clearing = 2 * time.Second

// over gives a cluster back for a run that has ended, and whose process died before it could. What that run leaves undone is noted first.
func (l *Locks) over(ctx context.Context, m ClusterLock, cluster string, lease durable.Lease) bool {
	st, err := journal.Load(ctx, l.Store, l.Actions, lease.Holder)
	if err != nil || !st.Outcome.Over() {
		return false
	}
	if l.Ended != nil && l.Ended(ctx, lease.Holder, st) != nil {
		return false
	}
	if m != nil {
		limited, cancel := context.WithTimeout(ctx, Clearing)
		defer cancel()
		_ = m.Clear(limited, action.Claim{Cluster: cluster, Run: lease.Holder, Holder: l.Holder, Epoch: lease.Epoch}) // else it is passed over
	}
	return l.Store.Release(ctx, lease.Name, lease.Holder) == nil
}

// GiveBack gives back what a run that has ended still holds: its process died before it could. It tells whether there was any.
func (l *Locks) GiveBack(ctx context.Context, run string) (gave bool, err error) {
	st, err := journal.Load(ctx, l.Store, l.Actions, run)
	if err != nil || !st.Outcome.Over() || st.Book == nil || st.Book.Lock != runbook.LockCluster {
		return false, err
	}
	held := map[string]durable.Lease{} // by cluster: it may hold some of them alone
	for _, name := range st.Header.AllClusters() {
		lease, err := l.Store.Lease(ctx, LeaseName(name))
		if err != nil {
			return false, err
		}
		if lease.Holder == run {
			held[name] = lease
		}
	}
	if len(held) == 0 {
		return false, nil
	}
	site, err := OpenAll(ctx, l.Open, st.Header.Cluster, st.Header.AllClusters())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	for _, name := range st.Header.AllClusters() {
		lease, holds := held[name]
		if !holds {
			continue
		}
		if on, err := site.Cluster(ctx, name); err == nil {
			l.over(ctx, l.ClusterLockOf(on), name, lease)
		}
	}
	return true, nil
}

// orphaned frees a cluster that a process took for a run and died before it made the run: nobody can resume or cancel that one.
// While its lease holds it may be alive still. The claim goes first: without the lease, nobody would know that it is from here.
func (l *Locks) orphaned(ctx context.Context, m ClusterLock, cluster string, lease durable.Lease) bool {
	if lease.Expires.After(time.Now()) || !l.unmade(ctx, lease.Holder) {
		return false
	}
	if m != nil {
		if err := m.Clear(ctx, action.Claim{Cluster: cluster, Run: lease.Holder, Holder: l.Holder, Epoch: lease.Epoch}); err != nil {
			return false
		}
	}
	freed, err := l.Store.ReleaseOrphan(ctx, lease.Name)
	return err == nil && freed
}

// unmade tells whether there is no such run in the store.
func (l *Locks) unmade(ctx context.Context, run string) bool {
	_, err := l.Store.Run(ctx, run)
	return errors.Is(err, durable.ErrNoRun)
}

// ClusterLockOf is what keeps the claim in a cluster; nil: nothing does.
func (l *Locks) ClusterLockOf(on *cluster.Cluster) ClusterLock {
	if l.ClusterLock == nil {
		return nil
	}
	m := l.ClusterLock(on)
	if m == nil {
		return nil
	}
	return &tidied{ClusterLock: m, locks: l}
}

// tidied is a cluster lock on which the claims of this store's ended runs do not count: each is cleared or passed over when it is met, which
// may be in the middle of a run that began while its cluster did not say whose it is.
type tidied struct {
	ClusterLock
	locks *Locks

	mu   sync.Mutex
	past string // the run whose claim was met last
}

func (m *tidied) Claim(ctx context.Context, c action.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.Past = m.past
	err := m.ClusterLock.Claim(ctx, c)
	var claimed *action.ClaimedError
	if !errors.As(err, &claimed) || claimed.Run == "" || claimed.Run == c.Run || claimed.Run == m.past || !m.locks.ended(ctx, claimed.Run) {
		return err
	}
	m.past = claimed.Run
	c.Past = m.past
	return m.ClusterLock.Claim(ctx, c)
}

// breakLock takes a cluster from a run of this store whose owner has not prolonged its lease.
func (l *Locks) breakLock(ctx context.Context, cluster string) (run string, err error) {
	lease, err := l.Store.Lease(ctx, LeaseName(cluster))
	if err != nil || lease.Holder == "" || lease.Expires.After(time.Now()) {
		return "", err
	}
	return lease.Holder, l.Store.Release(ctx, lease.Name, lease.Holder)
}

// past gives a lab back for a run that began before it was made: the cluster that run had is gone, and only its name is the same.
func (l *Locks) past(ctx context.Context, on *cluster.Cluster, lease durable.Lease) bool {
	if on.Made.IsZero() || lease.Expires.After(time.Now()) {
		return false
	}
	st, err := journal.Load(ctx, l.Store, l.Actions, lease.Holder)
	return err == nil && st.Header.At.Before(on.Made) && l.Store.Release(ctx, lease.Name, lease.Holder) == nil
}

// Tidy gives back what runs hold that have ended, and whose process died before it could. Where a cluster does not answer soon, its claim
// is passed over by whoever meets it.
func (l *Locks) Tidy(ctx context.Context) {
	runs, err := l.Store.Runs(ctx)
	if err != nil {
		return // whoever asks for one is told
	}
	seen := map[string]bool{}
	for _, r := range runs {
		var h journal.Header
		if err := json.Unmarshal(r.Header, &h); err != nil {
			continue
		}
		for _, name := range h.AllClusters() {
			if seen[name] {
				continue
			}
			seen[name] = true
			lease, err := l.Store.Lease(ctx, LeaseName(name))
			if err != nil || lease.Holder == "" || lease.Expires.After(time.Now()) || !l.ended(ctx, lease.Holder) {
				continue
			}
			limited, cancel := context.WithTimeout(ctx, 2*Clearing)
			_, _ = l.GiveBack(limited, lease.Holder)
			cancel()
		}
	}
}
