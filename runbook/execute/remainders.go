package execute

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/plan"
)

// whenMade tells when the servers of a cluster were made.
type whenMade func(ctx context.Context, cluster string) (time.Time, error)

// openToLook is whenMade for whoever has not opened the cluster: a lab that is open cannot be opened again.
func openToLook(s *Service) whenMade {
	return func(ctx context.Context, cluster string) (time.Time, error) {
		on, err := s.Open(ctx, cluster)
		if err != nil {
			return time.Time{}, err
		}
		return on.Made, on.Close()
	}
}

// whileOpen is whenMade for whoever has opened the clusters of a run.
func whileOpen(on *cluster.Cluster) whenMade {
	return func(ctx context.Context, name string) (time.Time, error) {
		one, err := on.Cluster(ctx, name)
		if err != nil {
			return time.Time{}, err
		}
		return one.Made, nil
	}
}

// openRemainders are what earlier runs of this store have left undone on a cluster, and nobody has mended since. What was left on a lab
// is gone with it: another of that name, made later, has nothing of it.
func openRemainders(ctx context.Context, s *Service, cluster string, made whenMade) ([]journal.Remainder, error) {
	noted, err := notedOn(ctx, s, cluster, made)
	if err != nil {
		return nil, err
	}
	late, err := unnotedOn(ctx, s, cluster, made)
	return append(noted, late...), err
}

// notedOn is openRemainders by the records alone.
func notedOn(ctx context.Context, s *Service, cluster string, made whenMade) ([]journal.Remainder, error) {
	open, err := journal.OpenRemainders(ctx, s.Store, cluster)
	if err != nil {
		return nil, err
	}
	return sinceMade(ctx, cluster, made, open), nil
}

// sinceMade are those of some remainders that the cluster still has: what was left before its servers were made is gone. Where it is not known
// when they were made, all are told.
func sinceMade(ctx context.Context, name string, made whenMade, open []journal.Remainder) []journal.Remainder {
	if len(open) == 0 {
		return nil
	}
	at, err := made(ctx, name)
	if err != nil {
		return open
	}
	return slices.DeleteFunc(open, func(m journal.Remainder) bool { return m.At.Before(at) })
}

// noteRemainders keeps what a run that has ended leaves undone, and that it has taken up what others left.
func (s *Service) noteRemainders(ctx context.Context, run string, st *journal.State) error {
	return keepRemainders(ctx, s, run, st, openToLook(s))
}

func keepRemainders(ctx context.Context, s *Service, run string, st *journal.State, made whenMade) error {
	all, err := unnoted(ctx, s, run, st, made)
	for _, m := range all {
		if err := m.Keep(ctx, s.Store); err != nil {
			return err
		}
	}
	return err
}

// unnoted is what noteRemainders has still to keep of a run. What was noted since the run ended stays as it is: a person may have mended it.
func unnoted(ctx context.Context, s *Service, run string, st *journal.State, made whenMade) ([]journal.Remainder, error) {
	var own []journal.Remainder
	switch {
	case st.Outcome == journal.RunDone, st.Outcome == journal.RunUndone:
		own = st.Remainders()
	case st.Outcome == journal.RunCancelled:
		own = journal.LeftByUndo(st) // before it was stuck
		if st.Leaves != "" {
			own = append(own, journal.Remainder{Cluster: st.Header.Cluster, Runbook: st.Header.Runbook, Why: st.Why})
		}
	}
	for i := range own {
		own[i].Run, own[i].At = run, st.Changed
	}
	var all []journal.Remainder
	if st.Outcome == journal.RunDone {
		taken, err := takenUp(ctx, s, run, st, own, made)
		if err != nil {
			return nil, err
		}
		all = taken
	}
	for _, m := range own {
		noted, err := journal.AllRemainders(ctx, s.Store, m.Cluster)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(noted, func(n journal.Remainder) bool { return n.Same(m) && !n.At.Before(st.Ended) }) {
			all = append(all, m)
		}
	}
	return all, nil
}

// unnotedOn is what stays undone of a run that has ended and still has the cluster, as its process died before it noted that.
func unnotedOn(ctx context.Context, s *Service, cluster string, made whenMade) ([]journal.Remainder, error) {
	lease, err := s.Store.Lease(ctx, lock.LeaseName(cluster))
	if err != nil || lease.Holder == "" {
		return nil, err
	}
	st, err := s.State(ctx, lease.Holder)
	if err != nil || !st.Outcome.Over() {
		return nil, nil //nolint:nilerr // it is being made, or is damaged, which is told where runs are shown
	}
	all, err := unnoted(ctx, s, lease.Holder, st, made)
	if err != nil {
		return nil, err
	}
	return sinceMade(ctx, cluster, made, slices.DeleteFunc(all, func(m journal.Remainder) bool { return m.Mended != "" || m.Cluster != cluster })), nil
}

// takenUp are the remainders of earlier runs that this one has mended: a target that it worked on, and did not leave out itself; a
// runbook that was left half done, and is done now.
func takenUp(ctx context.Context, s *Service, run string, st *journal.State, own []journal.Remainder, made whenMade) ([]journal.Remainder, error) {
	var all []journal.Remainder
	for _, name := range st.Header.AllClusters() {
		open, err := notedOn(ctx, s, name, made)
		if err != nil {
			return nil, err
		}
		for _, m := range open {
			if m.At.After(st.Changed) {
				continue // left by a later run
			}
			out := slices.ContainsFunc(own, func(o journal.Remainder) bool { return o.Cluster == m.Cluster && o.Target == m.Target })
			if m.Target == "" && m.Runbook == st.Header.Runbook || m.Target != "" && !out && st.WorkedOn(m) {
				m.Mended = "run " + run
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// Mend notes that a person has mended what a run left undone. It returns what that was.
func (s *Service) Mend(ctx context.Context, run, reason string) ([]journal.Remainder, error) {
	return mend(ctx, s, run, reason, func(m journal.Remainder) bool { return m.Run == run })
}

// MendDamaged notes that a person has looked whether something is left of what the damaged records of a run's clusters said. It returns them.
func MendDamaged(ctx context.Context, s *Service, run, reason string) ([]journal.Remainder, error) {
	return mend(ctx, s, run, reason, func(m journal.Remainder) bool { return m.Damage != "" })
}

// mend notes that some of what is open on a run's clusters is mended.
func mend(ctx context.Context, s *Service, run, reason string, these func(journal.Remainder) bool) ([]journal.Remainder, error) {
	st, err := s.State(ctx, run)
	if err != nil {
		return nil, err
	}
	var mended []journal.Remainder
	for _, name := range st.Header.AllClusters() {
		open, err := s.OpenRemainders(ctx, name)
		if err != nil {
			return mended, err
		}
		for _, m := range open {
			if !these(m) {
				continue
			}
			m.Mended = strings.TrimSpace(s.User + ": " + reason)
			if err := m.Keep(ctx, s.Store); err != nil {
				return mended, err
			}
			mended = append(mended, m)
		}
	}
	return mended, nil
}

// NotFixed says what is left undone on the cluster of a run, and how it is recorded that it is fixed.
func NotFixed(m journal.Remainder, run string) string {
	if m.Damage != "" {
		return fmt.Sprintf("damaged: %s; once you have checked that, record it: plimsoll runbook fixed %s --damaged --reason REASON", m, run)
	}
	m.Why = plan.OnCluster(m.Why, m.Cluster)
	return fmt.Sprintf("not fixed yet: %s; once that is fixed, record it: plimsoll runbook fixed %s --reason REASON", m, m.Run)
}
