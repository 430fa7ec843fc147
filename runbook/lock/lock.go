// Package lock keeps a cluster to one run at a time. A run holds a cluster in two places: a lease in its store, with an epoch that only
// rises, and a claim in the cluster itself, which every Plimsoll sees whatever store it uses.
//
//	free ──take──► held ──release──► free
//	               │  ▲ prolonged every third of its time
//	               │  └──────────────┐
//	               ├─ no answer of the store or cluster: no act begins until one answers
//	               ├─ slept longer than the claim holds, and no clear answer since: lost
//	               └─ another run has it (--break-lock): lost; the run parks and acts no more
//
// A run that ended and could not give its cluster back holds nothing: its lease and claim are cleared when they are met.
package lock

import (
	"context"
	"errors"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// Locks take the clusters of runs, and give them back.
type Locks struct {
	Store       *durable.Store
	Actions     []action.Action
	Open        Opener
	ClusterLock func(*cluster.Cluster) ClusterLock // nil, or returning nil: no claim in the cluster itself
	Holder      string                             // this process, for people
	TTL         time.Duration                      // of a lease that is not prolonged

	// Waiting is told before it is watched, for as long as it says at most, whether anybody prolongs the claim of another that is to be taken
	// by force. nil: nobody is.
	Waiting func(cluster string, most time.Duration)

	// Ended completes the records of a run that has ended, before its cluster is given back in its stead. nil: there are none.
	Ended func(ctx context.Context, run string, st *journal.State) error
}

// Leases are a run's clusters. They are taken in the order of their names: of two runs that want the same ones, the
// first to have the first has all, and the other none.
type Leases []*holding

// Take takes all clusters of a run, each in the store and in the cluster itself. After an error those that were taken are
// among what is returned.
func (l *Locks) Take(ctx context.Context, on *cluster.Cluster, st *journal.State, run string, patience time.Duration) (Leases, error) {
	var all Leases
	for _, name := range st.Header.AllClusters() {
		one, err := on.Cluster(ctx, name)
		if err != nil {
			return all, err
		}
		clusterLock, claim := l.ClusterLockOf(one), l.Claim(st, name, run)
		if err := l.stillHeld(ctx, claim); err != nil {
			return all, err
		}
		if err := Watch(ctx, clusterLock, claim); err != nil {
			return all, err
		}
		h, err := Hold(ctx, l.Store, clusterLock, claim, patience)
		var held *durable.HeldError
		var claimed *action.ClaimedError
		if errors.As(err, &held) && (l.orphaned(ctx, clusterLock, name, held.Lease) || l.over(ctx, clusterLock, name, held.Lease) || l.past(ctx, one, held.Lease)) {
			held = nil
			h, err = Hold(ctx, l.Store, clusterLock, claim, patience)
			errors.As(err, &held)
		}
		if h != nil {
			all = append(all, h)
		}
		switch {
		case errors.As(err, &held):
			return all, l.busy(ctx, name, held.Lease)
		case errors.As(err, &claimed):
			return all, claimed
		case err != nil:
			return all, err
		}
	}
	return all, nil
}

// stillHeld refuses a cluster that the run has had, and that others took from it meanwhile: what it planned is of another cluster
// now, though they have given it back.
func (l *Locks) stillHeld(ctx context.Context, c action.Claim) error {
	if !c.Held {
		return nil
	}
	lease, err := l.Store.Lease(ctx, LeaseName(c.Cluster))
	if err != nil || lease.Holder == c.Run || lease.Holder != "" { // whoever has it now is told of by who asks for it
		return err
	}
	return &action.ClaimedError{Cluster: c.Cluster}
}

// Claim is what a run leaves in one of its clusters.
func (l *Locks) Claim(st *journal.State, cluster, run string) action.Claim {
	held := st.Epochs[cluster] != 0 && !st.Released
	c := action.Claim{
		Cluster: cluster, Run: run, Holder: l.Holder, Epoch: st.Epochs[cluster], For: l.TTL, Held: held,
		Stored: held && st.Unclaimed[cluster] == "",
		Break:  st.Header.BrokenLock != "" && !held, // before its first act, not after it was fenced itself
	}
	if held {
		c.Since = st.Taken
	}
	if l.Waiting != nil {
		c.Waiting = func(most time.Duration) { l.Waiting(cluster, most) }
	}
	return c
}

// Lock takes the clusters of a run that is to begin, says which runs they were taken from by force, and has the run made while it holds
// them. They are given back if it cannot be, also when a person interrupts.
func (l *Locks) Lock(ctx context.Context, h *journal.Header, run string, create func(on *cluster.Cluster) error) (err error) {
	if h.BrokenLock != "" {
		for _, name := range h.AllClusters() {
			broke, err := l.breakLock(ctx, name)
			if err != nil {
				return err
			}
			if broke != "" {
				h.Broke = append(h.Broke, broke)
			}
		}
	}
	on, err := OpenAll(ctx, l.Open, h.Cluster, h.AllClusters())
	if err != nil {
		return err
	}
	all, err := l.Take(ctx, on, &journal.State{Header: *h}, run, LongPatience)
	if err == nil {
		h.Locked, h.LockedAt = all.confirmed()
		err = create(on)
	}
	if err != nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, all.Release(limited, func(cluster string, _ error) error { return l.noteNeverBegun(limited, run, cluster) }))
	}
	return errors.Join(err, on.Close())
}

// MayAct asks for each cluster whether it is still ours, and prolongs.
func (all Leases) MayAct(ctx context.Context) error {
	for _, h := range all {
		if err := h.MayAct(ctx); err != nil {
			return err
		}
	}
	return nil
}

// StillOurs is MayAct in the middle of an act: it asks only after this process was suspended.
func (all Leases) StillOurs(ctx context.Context) error {
	for _, h := range all {
		if err := h.StillOurs(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Epochs are those of the leases, by cluster.
func (all Leases) Epochs() map[string]int64 {
	epochs := map[string]int64{}
	for _, h := range all {
		epochs[h.claim.Cluster] = h.claim.Epoch
	}
	return epochs
}

// confirmed are the epochs of the leases of those clusters that have said that they are this run's, by cluster, and when the last did. The first
// session asks for them as for what it holds: a run whose process slept before its first entry must see that others had a cluster meanwhile.
func (all Leases) confirmed() (epochs map[string]int64, at time.Time) {
	for _, h := range all {
		if h.clusterLock != nil && !h.claim.Held {
			continue // it did not answer: the first session claims it
		}
		if epochs == nil {
			epochs = map[string]int64{}
		}
		epochs[h.claim.Cluster], at = h.claim.Epoch, h.Asked
	}
	return epochs, at
}

// Unclaimed says of each cluster that has not stored the claim yet why it has not. A failover must not wait for a cluster that does not answer.
func (all Leases) Unclaimed() map[string]string {
	why := map[string]string{}
	for _, h := range all {
		h.mu.Lock()
		if h.why != nil && !h.stored.Load() {
			why[h.claim.Cluster] = journal.OneLine(h.why)
		}
		h.mu.Unlock()
	}
	return why
}

// Refused says of each cluster that has stored the claim and answers that it does not prolong it why. A run in its middle goes on all the
// same: another run is refused by the claim as it stands, and takes the cluster with --break-lock alone.
func (all Leases) Refused() map[string]string {
	why := map[string]string{}
	for _, h := range all {
		if !h.mu.TryLock() {
			continue // it is being asked: the next look tells
		}
		if h.refused != nil {
			why[h.claim.Cluster] = journal.OneLine(h.refused)
		}
		h.mu.Unlock()
	}
	return why
}

// Claimed tells whether the run's claim has been stored in a cluster. It waits for nobody.
func (all Leases) Claimed(cluster string) bool {
	for _, h := range all {
		if h.claim.Cluster == cluster {
			return h.stored.Load()
		}
	}
	return false
}

// Lost says how one of the clusters was lost; nil while all are ours.
func (all Leases) Lost() error {
	for _, h := range all {
		if err := h.Why(); err != nil {
			return err
		}
	}
	return nil
}

// Release gives the clusters back. stays is told first of each that does not answer, so that the claim stays in it, and why.
func (all Leases) Release(ctx context.Context, stays func(cluster string, why error) error) (err error) {
	for _, h := range all {
		err = errors.Join(err, h.release(ctx, stays))
	}
	return err
}
