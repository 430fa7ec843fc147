package execute

import (
	"context"
	"slices"
	"strings"

	"plimsoll/runbook/journal"
)

// noteRemainders keeps what a run that has ended leaves undone, and that it has taken up what others left.
func (s *Service) noteRemainders(ctx context.Context, run string, st *journal.State) error {
	var all []journal.Remainder
	switch {
	case st.Outcome == journal.RunDone:
		all = st.Remainders()
		taken, err := s.takenUp(ctx, run, st, all)
		if err != nil {
			return err
		}
		all = append(all, taken...)
	case st.Outcome == journal.RunCancelled && st.Leaves != "":
		all = []journal.Remainder{{Cluster: st.Header.Cluster, Runbook: st.Header.Runbook, Why: st.Why}}
	}
	for _, m := range all {
		if m.Run == "" {
			m.Run, m.At = run, st.Changed
		}
		if err := m.Keep(ctx, s.Store); err != nil {
			return err
		}
	}
	return nil
}

// takenUp are the remainders of earlier runs that this one has mended: a target that it worked on, and did not leave out itself; a
// runbook that was left half done, and is done now.
func (s *Service) takenUp(ctx context.Context, run string, st *journal.State, own []journal.Remainder) ([]journal.Remainder, error) {
	var all []journal.Remainder
	for _, name := range st.Header.AllClusters() {
		open, err := s.OpenRemainders(ctx, name)
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
			if m.Run != run {
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
