package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// ended tells whether a run of this store has ended for good, or was refused before it began.
func (l *Locks) ended(ctx context.Context, run string) bool {
	st, err := journal.Load(ctx, l.Store, l.Actions, run)
	if errors.Is(err, durable.ErrNoRun) {
		return l.neverBegan(ctx, run)
	}
	return err == nil && st.Outcome.Over()
}

// neverBegun is the kind of the records of runs that were refused after they had claimed a cluster, which did not let the claim be removed: no
// command about such a run could do it.
const neverBegun = "never begun"

func (l *Locks) noteNeverBegun(ctx context.Context, run, cluster string) error {
	data, err := json.Marshal(cluster)
	if err != nil {
		return fmt.Errorf("record that the claim of run %s stays: %w", run, err)
	}
	return l.Store.Keep(ctx, neverBegun, run, data)
}

// neverBegan tells whether there is such a record. Its claim is passed over.
func (l *Locks) neverBegan(ctx context.Context, run string) bool {
	all, err := l.Store.Records(ctx, neverBegun, run)
	return err == nil && len(all) > 0 && l.unmade(ctx, run)
}

// Clearing is how long a cluster may take to let the claim of a run that has ended be cleared: it need not be, to be passed over.
const Clearing = 2 * time.Second

// over gives a cluster back for a run that has ended, and whose process died before it could. What that run leaves undone is noted first. A
// claim that cannot be cleared now is passed over by whoever takes the cluster.
func (l *Locks) over(ctx context.Context, m ClusterLock, cluster string, lease durable.Lease) bool {
	if !l.noted(ctx, lease.Holder) {
		return false
	}
	_ = l.clear(ctx, m, cluster, lease, Clearing)
	return l.Store.Release(ctx, lease.Name, lease.Holder) == nil
}

// noted completes the records of a run, if it has ended.
func (l *Locks) noted(ctx context.Context, run string) bool {
	st, err := journal.Load(ctx, l.Store, l.Actions, run)
	return err == nil && st.Outcome.Over() && (l.Ended == nil || l.Ended(ctx, run, st) == nil)
}

// clear removes a run's claim from a cluster, which may take so long for it.
func (l *Locks) clear(ctx context.Context, m ClusterLock, cluster string, lease durable.Lease, patience time.Duration) error {
	if m == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return m.Clear(limited, action.Claim{Cluster: cluster, Run: lease.Holder, Holder: l.Holder, Epoch: lease.Epoch})
}

// GiveBack gives back what a run that has ended still holds: its process died before it could. It tells whether it gave any back. A cluster that
// does not let its claim be removed stays held, and a later call tries again: ErrClaimStays. A person asked for it, and waits for a slow one.
func (l *Locks) GiveBack(ctx context.Context, run string) (gave bool, err error) {
	return l.eachHeld(ctx, run, func(m ClusterLock, cluster string, lease durable.Lease) error {
		if !l.noted(ctx, run) {
			return fmt.Errorf("record what run %s leaves undone", run)
		}
		if err := l.clear(ctx, m, cluster, lease, LongPatience); err != nil {
			return fmt.Errorf("cluster %s: %w: %w", cluster, ErrClaimStays, err)
		}
		return l.Store.Release(ctx, lease.Name, lease.Holder)
	})
}

// Unreleased is a cluster that a run has not given back though it has ended: its process died before it could, or the cluster did not answer.
type Unreleased struct {
	Cluster string `json:"cluster"`
	Run     string `json:"run"`
}

// String says it for people, with the command that gives it back.
func (u Unreleased) String() string {
	return fmt.Sprintf("cluster %s: run %[2]s has ended and has not released it; plimsoll runbook resume %[2]s releases it, and so does the next run from this machine", u.Cluster, u.Run)
}

// Unreleased are the clusters that a run has not given back though it has ended. Its process may be about to. It asks the store alone.
func (l *Locks) Unreleased(ctx context.Context, run string, st *journal.State) ([]Unreleased, error) {
	leases, err := l.unreleased(ctx, run, st)
	var all []Unreleased
	for _, name := range document.SortedKeys(leases) {
		all = append(all, Unreleased{Cluster: name, Run: run})
	}
	return all, err
}

// unreleased are the leases of those clusters, by cluster. One that nobody has is of a run whose claim was stored in the cluster itself and stays there,
// and since which no other of this store has had it.
func (l *Locks) unreleased(ctx context.Context, run string, st *journal.State) (map[string]durable.Lease, error) {
	if !st.Outcome.Over() || st.Book == nil || st.Book.Lock != runbook.LockCluster {
		return nil, nil
	}
	leases := map[string]durable.Lease{}
	for _, name := range st.Header.AllClusters() {
		lease, err := l.Store.Lease(ctx, LeaseName(name))
		if err != nil {
			return nil, err
		}
		if lease.Holder == run || lease.Holder == "" && journal.LeavesClaim(st, name) && lease.Epoch <= st.Epochs[name] {
			leases[name] = lease
		}
	}
	return leases, nil
}

// ErrClaimStays says that the claim of a run that has ended could not be removed from its cluster.
var ErrClaimStays = errors.New("the claim of the ended run could not be removed")

// eachHeld gives back each cluster that a run still holds, if the run has ended. It tells whether it gave any back, and could give back all.
func (l *Locks) eachHeld(ctx context.Context, run string, giveBack func(ClusterLock, string, durable.Lease) error) (gave bool, err error) {
	st, err := journal.Load(ctx, l.Store, l.Actions, run)
	if err != nil {
		return false, err
	}
	held, err := l.unreleased(ctx, run, st) // it may hold some of its clusters alone
	if err != nil || len(held) == 0 {
		return false, err
	}
	on, err := OpenAll(ctx, l.Open, st.Header.Cluster, st.Header.AllClusters())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	for _, name := range st.Header.AllClusters() {
		lease, holds := held[name]
		if !holds {
			continue
		}
		if lease.Holder == "" { // nobody may take it while its claim is removed
			var taken *durable.HeldError
			mine, acquiring := l.Store.Acquire(ctx, lease.Name, run, 2*LongPatience)
			if errors.As(acquiring, &taken) {
				continue
			} else if acquiring != nil {
				err = errors.Join(err, acquiring)
				continue
			}
			lease = mine
		}
		one, opening := on.Cluster(ctx, name)
		if opening != nil {
			err = errors.Join(err, opening)
			continue
		}
		giving := giveBack(l.ClusterLockOf(one), name, lease)
		gave, err = gave || giving == nil, errors.Join(err, giving)
	}
	return gave && err == nil, err
}

// orphaned frees a cluster that a process took for a run and died before it made the run: nobody can resume or cancel that one.
// While its lease holds it may be alive still. The claim goes first: without the lease, nobody would know that it is from here.
func (l *Locks) orphaned(ctx context.Context, m ClusterLock, cluster string, lease durable.Lease) bool {
	if lease.Expires.After(time.Now()) || !l.unmade(ctx, lease.Holder) {
		return false
	}
	if err := l.clear(ctx, m, cluster, lease, LongPatience); err != nil {
		return false
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

// Clear removes the claim that was met too: it may be the one that stands where this run had no primary to write its own over it.
func (m *tidied) Clear(ctx context.Context, c action.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.Past = m.past
	return m.ClusterLock.Clear(ctx, c)
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
			_, _ = l.eachHeld(limited, lease.Holder, func(m ClusterLock, cluster string, lease durable.Lease) error {
				l.over(limited, m, cluster, lease)
				return nil
			})
			cancel()
		}
	}
}
