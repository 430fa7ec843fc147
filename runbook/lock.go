package runbook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/action"
)

// holdings are a run's clusters. They are taken in the order of their names: of two runs that want the same ones, the
// first to have the first has all, and the other none.
type holdings []*holding

// take takes all clusters of a run, each in the store and in the cluster itself. After an error those that were taken are
// among what is returned.
func (s *Service) take(ctx context.Context, site *action.Site, st *State, run string, patience time.Duration) (holdings, error) {
	var all holdings
	for _, name := range st.Header.clusters() {
		on, err := site.Cluster(ctx, name)
		if err != nil {
			return all, err
		}
		marker, claim := s.marker(on), s.claim(st, name, run)
		h, err := hold(ctx, s.Store, marker, claim, patience)
		var held *durable.HeldError
		var claimed *action.ClaimedError
		if errors.As(err, &held) && s.orphaned(ctx, marker, name, held.Lease) {
			h, err = hold(ctx, s.Store, marker, claim, patience)
		}
		if h != nil {
			all = append(all, h)
		}
		switch {
		case errors.As(err, &held):
			return all, s.busy(ctx, name, held.Lease)
		case errors.As(err, &claimed):
			return all, claimed
		case err != nil:
			return all, err
		}
	}
	return all, nil
}

// forget clears the claim of a run of this store that has ended and could not do it: its server was down.
func (s *Service) forget(ctx context.Context, m Marker, c *action.ClaimedError) bool {
	st, err := s.State(ctx, c.Run)
	if err != nil || st.Outcome == "" || st.Outcome == Broken {
		return false
	}
	return m.Clear(ctx, s.claim(st, c.Cluster, c.Run)) == nil
}

// orphaned frees a cluster that a process took for a run and died before it made the run: nobody can resume or cancel that one.
// While its lease holds it may be alive still. The claim goes first: without the lease, nobody would know that it is from here.
func (s *Service) orphaned(ctx context.Context, m Marker, cluster string, lease durable.Lease) bool {
	if lease.Expires.After(time.Now()) || !s.unmade(ctx, lease.Holder) {
		return false
	}
	if m != nil {
		if err := m.Clear(ctx, action.Claim{Cluster: cluster, Run: lease.Holder, Holder: s.Holder, Epoch: lease.Epoch}); err != nil {
			return false
		}
	}
	freed, err := s.Store.ReleaseOrphan(ctx, lease.Name)
	return err == nil && freed
}

// unmade tells whether there is no such run in the store.
func (s *Service) unmade(ctx context.Context, run string) bool {
	_, err := s.Store.Run(ctx, run)
	return errors.Is(err, durable.ErrNoRun)
}

func (s *Service) marker(on *action.Site) Marker {
	if s.Marker == nil {
		return nil
	}
	m := s.Marker(on)
	if m == nil {
		return nil
	}
	return tidied{Marker: m, service: s}
}

// tidied is a marker on which the claims of this store's ended runs do not count: each is cleared when it is met, which may be in
// the middle of a run that began while its cluster did not say whose it is.
type tidied struct {
	Marker
	service *Service
}

func (m tidied) Claim(ctx context.Context, c action.Claim) error {
	err := m.Marker.Claim(ctx, c)
	var claimed *action.ClaimedError
	if errors.As(err, &claimed) && claimed.Run != c.Run && m.service.forget(ctx, m.Marker, claimed) {
		return m.Marker.Claim(ctx, c)
	}
	return err
}

// claim is what a run leaves in one of its clusters.
func (s *Service) claim(st *State, cluster, run string) action.Claim {
	return action.Claim{
		Cluster: cluster, Run: run, Holder: s.Holder, Epoch: st.Epochs[cluster], For: s.ttl(),
		Break: st.Header.BrokenLock != "" && st.Epochs[cluster] == 0, // before its first act, not after it was fenced itself
		Held:  st.Epochs[cluster] != 0,
	}
}

// lock takes the clusters of a run that is to begin, says which runs they were taken from by force, and has the run made. They are
// given back if it cannot be, also when a person interrupts.
func (s *Service) lock(ctx context.Context, h *Header, run string, create func() error) (err error) {
	if h.BrokenLock != "" {
		for _, name := range h.clusters() {
			broke, err := s.breakLock(ctx, name)
			if err != nil {
				return err
			}
			if broke != "" {
				h.Broke = append(h.Broke, broke)
			}
		}
	}
	site, err := s.open(ctx, h.Cluster, h.clusters())
	if err != nil {
		return err
	}
	all, err := s.take(ctx, site, &State{Header: *h}, run, slowly)
	if err == nil {
		err = create()
	}
	if err != nil {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		_, releasing := all.release(limited)
		err = errors.Join(err, releasing)
	}
	return errors.Join(err, site.Close())
}

// breakLock takes a cluster from a run of this store whose owner has not prolonged its lease.
func (s *Service) breakLock(ctx context.Context, cluster string) (run string, err error) {
	lease, err := s.Store.Lease(ctx, leaseName(cluster))
	if err != nil || lease.Holder == "" || lease.Expires.After(time.Now()) {
		return "", err
	}
	return lease.Holder, s.Store.Release(ctx, lease.Name, lease.Holder)
}

// BusyError says that a cluster is held by an unfinished run of this store.
type BusyError struct {
	Cluster, Run string
	By           string    // who executes or executed it, and where
	Since        time.Time // when it began; zero: not known
	Status       string
	Idle         bool      // nobody executes it any more
	Unmade       bool      // it is being begun, or its process died before it was
	Until        time.Time // of the lock, if it is not prolonged
}

func (s *Service) busy(ctx context.Context, cluster string, lease durable.Lease) error {
	e := &BusyError{Cluster: cluster, Run: lease.Holder, Idle: lease.Expires.Before(time.Now()), Until: lease.Expires, Unmade: s.unmade(ctx, lease.Holder)}
	if st, err := s.State(ctx, lease.Holder); err == nil {
		e.By, e.Since, e.Status = st.Holder, st.Header.At, st.Status()
		if e.By == "" {
			e.By = st.Header.By
		}
	}
	return e
}

func (e *BusyError) Error() string {
	text := fmt.Sprintf("cluster %s is held by run %s", e.Cluster, e.Run)
	if e.By != "" {
		text += " of " + e.By
	}
	if !e.Since.IsZero() {
		text += ", since " + e.Since.Local().Format(time.DateTime)
	}
	if e.Unmade {
		text += ", which is being begun"
	}
	if e.Status != "" {
		text += ": " + e.Status
	}
	return text
}

// Hint says what to do.
func (e *BusyError) Hint() string {
	if e.Unmade && !e.Idle {
		return "try again in a moment; if the process that began it died, the cluster is free after " + e.Until.Local().Format(time.TimeOnly)
	}
	if e.Unmade {
		return "its process died, and the cluster does not say that it gave its claim back: try again when it answers, or --break-lock REASON takes its lock"
	}
	hint := fmt.Sprintf("plimsoll runbook status %s; then resume or cancel it", e.Run)
	if e.Idle {
		hint += "; nobody executes it: --break-lock REASON takes its lock"
	}
	return hint
}

// mayAct asks for each cluster whether it is still ours, and prolongs.
func (all holdings) mayAct(ctx context.Context) error {
	for _, h := range all {
		if err := h.mayAct(ctx); err != nil {
			return err
		}
	}
	return nil
}

// epochs are those of the leases, by cluster.
func (all holdings) epochs() map[string]int64 {
	epochs := map[string]int64{}
	for _, h := range all {
		epochs[h.claim.Cluster] = h.claim.Epoch
	}
	return epochs
}

// lost says how one of the clusters was lost; nil while all are ours.
func (all holdings) lost() error {
	for _, h := range all {
		if err := h.why(); err != nil {
			return err
		}
	}
	return nil
}

// release gives the clusters back. kept says which claims stay because their cluster does not answer.
func (all holdings) release(ctx context.Context) (kept, err error) {
	for _, h := range all {
		claim, lease := h.release(ctx)
		kept, err = errors.Join(kept, claim), errors.Join(err, lease)
	}
	return kept, err
}
