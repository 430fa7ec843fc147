package runbook

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
)

// holdings are a run's clusters. They are taken in the order of their names: of two runs that want the same ones, the
// first to have the first has all, and the other none.
type holdings []*holding

// take takes all clusters of a run, each in the store and in the cluster itself. After an error those that were taken are
// among what is returned.
func (s *Service) take(ctx context.Context, site *cluster.Cluster, st *State, run string, patience time.Duration) (holdings, error) {
	var all holdings
	for _, name := range st.Header.clusters() {
		on, err := site.Cluster(ctx, name)
		if err != nil {
			return all, err
		}
		marker, claim := s.marker(on), s.claim(st, name, run)
		if err := s.stillHeld(ctx, claim); err != nil {
			return all, err
		}
		h, err := hold(ctx, s.Store, marker, claim, patience)
		var held *durable.HeldError
		var claimed *action.ClaimedError
		if errors.As(err, &held) && (s.orphaned(ctx, marker, name, held.Lease) || s.over(ctx, marker, name, held.Lease) || s.past(ctx, on, held.Lease)) {
			held = nil
			h, err = hold(ctx, s.Store, marker, claim, patience)
			errors.As(err, &held)
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

// stillHeld refuses a cluster that the run has had, and that others took from it meanwhile: what it planned is of another cluster
// now, though they have given it back.
func (s *Service) stillHeld(ctx context.Context, c action.Claim) error {
	if !c.Held {
		return nil
	}
	lease, err := s.Store.Lease(ctx, leaseName(c.Cluster))
	if err != nil || lease.Holder == c.Run || lease.Holder != "" { // whoever has it now is told of by who asks for it
		return err
	}
	return &action.ClaimedError{Cluster: c.Cluster}
}

// ended tells whether a run of this store has ended for good.
func (s *Service) ended(ctx context.Context, run string) bool {
	st, err := s.State(ctx, run)
	return err == nil && st.Outcome.over()
}

// clearing is how long a cluster may take to let the claim of a run that has ended be cleared: it need not be, to be passed over.
const clearing = 2 * time.Second

// over gives a cluster back for a run that has ended, and whose process died before it could.
func (s *Service) over(ctx context.Context, m Marker, cluster string, lease durable.Lease) bool {
	if !s.ended(ctx, lease.Holder) {
		return false
	}
	if m != nil {
		limited, cancel := context.WithTimeout(ctx, clearing)
		defer cancel()
		_ = m.Clear(limited, action.Claim{Cluster: cluster, Run: lease.Holder, Holder: s.Holder, Epoch: lease.Epoch}) // else it is passed over
	}
	return s.Store.Release(ctx, lease.Name, lease.Holder) == nil
}

// past gives a lab back for a run that began before it was made: the cluster that run had is gone, and only its name is the same.
func (s *Service) past(ctx context.Context, on *cluster.Cluster, lease durable.Lease) bool {
	if on.Made.IsZero() || lease.Expires.After(time.Now()) {
		return false
	}
	st, err := s.State(ctx, lease.Holder)
	return err == nil && st.Header.At.Before(on.Made) && s.Store.Release(ctx, lease.Name, lease.Holder) == nil
}

// GiveBack gives back what a run that has ended still holds: its process died before it could. It tells whether there was any.
func (s *Service) GiveBack(ctx context.Context, run string) (gave bool, err error) {
	st, err := s.State(ctx, run)
	if err != nil || !st.Outcome.over() || st.Book == nil || st.Book.Lock != LockCluster {
		return false, err
	}
	var held []durable.Lease
	for _, name := range st.Header.clusters() {
		lease, err := s.Store.Lease(ctx, leaseName(name))
		if err != nil {
			return false, err
		}
		if lease.Holder == run {
			held = append(held, lease)
		}
	}
	if len(held) == 0 {
		return false, nil
	}
	site, err := s.open(ctx, st.Header.Cluster, st.Header.clusters())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, site.Close()) }()
	for n, name := range st.Header.clusters() {
		if on, err := site.Cluster(ctx, name); err == nil && n < len(held) {
			s.over(ctx, s.marker(on), name, held[n])
		}
	}
	return true, nil
}

// tidy gives back what runs hold that have ended, and whose process died before it could. Where a cluster does not answer soon, its claim
// is passed over by whoever meets it.
func (s *Service) tidy(ctx context.Context) {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return // whoever asks for one is told
	}
	seen := map[string]bool{}
	for _, r := range runs {
		var h Header
		if err := json.Unmarshal(r.Header, &h); err != nil {
			continue
		}
		for _, name := range h.clusters() {
			if seen[name] {
				continue
			}
			seen[name] = true
			lease, err := s.Store.Lease(ctx, leaseName(name))
			if err != nil || lease.Holder == "" || lease.Expires.After(time.Now()) || !s.ended(ctx, lease.Holder) {
				continue
			}
			limited, cancel := context.WithTimeout(ctx, 2*clearing)
			_, _ = s.GiveBack(limited, lease.Holder)
			cancel()
		}
	}
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

func (s *Service) marker(on *cluster.Cluster) Marker {
	if s.Marker == nil {
		return nil
	}
	m := s.Marker(on)
	if m == nil {
		return nil
	}
	return &tidied{Marker: m, service: s}
}

// tidied is a marker on which the claims of this store's ended runs do not count: each is cleared or passed over when it is met, which
// may be in the middle of a run that began while its cluster did not say whose it is.
type tidied struct {
	Marker
	service *Service

	mu   sync.Mutex
	past string // the run whose claim was met last
}

func (m *tidied) Claim(ctx context.Context, c action.Claim) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.Past = m.past
	err := m.Marker.Claim(ctx, c)
	var claimed *action.ClaimedError
	if !errors.As(err, &claimed) || claimed.Run == "" || claimed.Run == c.Run || claimed.Run == m.past || !m.service.ended(ctx, claimed.Run) {
		return err
	}
	m.past = claimed.Run
	c.Past = m.past
	return m.Marker.Claim(ctx, c)
}

// claim is what a run leaves in one of its clusters.
func (s *Service) claim(st *State, cluster, run string) action.Claim {
	held := st.Epochs[cluster] != 0 && !st.Released
	c := action.Claim{
		Cluster: cluster, Run: run, Holder: s.Holder, Epoch: st.Epochs[cluster], For: s.ttl(), Held: held,
		Break: st.Header.BrokenLock != "" && !held, // before its first act, not after it was fenced itself
	}
	if held {
		c.Since = st.Taken
	}
	return c
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
		return "its process died before it could give the cluster back: try again when the cluster answers, or add --break-lock REASON to your command to take its lock"
	}
	hint := fmt.Sprintf("plimsoll runbook status %[1]s shows it; plimsoll runbook resume %[1]s finishes it, plimsoll runbook cancel %[1]s ends it", e.Run)
	if e.Idle {
		hint += "; no process executes it: add --break-lock REASON to your command to take its lock"
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
