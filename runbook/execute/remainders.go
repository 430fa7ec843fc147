package execute

import (
	"context"
	"slices"
	"strings"

	"plimsoll/runbook/journal"
)

// noteRemainders keeps what the run leaves undone, and that it has taken up what others left.
func (r *runner) noteRemainders(ctx context.Context) error {
	var all []journal.Remainder
	switch s := r.state; {
	case s.Outcome == journal.RunDone:
		all = s.Remainders()
		taken, err := r.takenUp(ctx, all)
		if err != nil {
			return err
		}
		all = append(all, taken...)
	case s.Outcome == journal.RunCancelled && s.Leaves != "":
		all = []journal.Remainder{{Cluster: s.Header.Cluster, Runbook: s.Header.Runbook, Why: s.Why}}
	}
	for _, m := range all {
		if m.Run == "" {
			m.Run, m.At = r.journal.Run(), r.state.Changed
		}
		if err := m.Keep(ctx, r.service.Store); err != nil {
			return err
		}
	}
	return nil
}

// takenUp are the remainders of earlier runs that this one has mended: a target that it worked on, and did not leave out itself; a
// runbook that was left half done, and is done now.
func (r *runner) takenUp(ctx context.Context, own []journal.Remainder) ([]journal.Remainder, error) {
	var all []journal.Remainder
	for _, name := range r.state.Header.AllClusters() {
		open, err := r.service.OpenRemainders(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, m := range open {
			out := slices.ContainsFunc(own, func(o journal.Remainder) bool { return o.Cluster == m.Cluster && o.Target == m.Target })
			if m.Target == "" && m.Runbook == r.state.Header.Runbook || m.Target != "" && !out && r.state.WorkedOn(m) {
				m.Mended = "run " + r.journal.Run()
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
