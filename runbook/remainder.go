package runbook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// Remainder is what a run left undone on a cluster, until it is mended: a target that a step left out, or all that stands of a run
// whose cluster was given back as it is.
type Remainder struct {
	Cluster string    `json:"cluster"`
	Run     string    `json:"run"`
	Runbook string    `json:"runbook"`
	Step    string    `json:"step,omitempty"`
	Target  string    `json:"target,omitempty"` // that was left out; empty: the run was left as it is
	Why     string    `json:"why"`
	At      time.Time `json:"at,omitzero"`
	Mended  string    `json:"mended,omitempty"` // by which run, or by whom and why: it is none any more
}

// String says it for people.
func (m Remainder) String() string {
	if m.Target == "" {
		return fmt.Sprintf("cluster %s: run %s of %s is half done: %s", m.Cluster, m.Run, m.Runbook, m.Why)
	}
	return fmt.Sprintf("cluster %s: %s was left out by run %s of %s, step %s: %s", m.Cluster, m.Target, m.Run, m.Runbook, m.Step, m.Why)
}

// remainderKind is the kind of the records, which stand under the name of a cluster.
const remainderKind = "remainder"

// Remainders are the targets that steps of the run have left out, as the actions say.
func (s *State) Remainders() []Remainder {
	var all []Remainder
	for _, i := range s.Items {
		on := i.Cluster
		if on == "" {
			on = s.Header.Cluster
		}
		left, _ := i.Output[action.LeftOut].(map[string]any)
		for _, target := range document.SortedKeys(left) {
			if i.Phase == Settled {
				all = append(all, Remainder{Cluster: on, Runbook: s.Header.Runbook, Step: i.Key, Target: target, Why: textOf(left[target])})
			}
		}
	}
	return all
}

// noteRemainders keeps what the run leaves undone, and that it has taken up what others left.
func (r *runner) noteRemainders(ctx context.Context) error {
	var all []Remainder
	switch s := r.state; {
	case s.Outcome == Done:
		all = s.Remainders()
		taken, err := r.takenUp(ctx, all)
		if err != nil {
			return err
		}
		all = append(all, taken...)
	case s.Outcome == Cancelled && s.leaves != "":
		all = []Remainder{{Cluster: s.Header.Cluster, Runbook: s.Header.Runbook, Why: s.Why}}
	}
	for _, m := range all {
		if m.Run == "" {
			m.Run, m.At = r.journal.Run(), r.state.Changed
		}
		if err := r.service.keepRemainder(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) keepRemainder(ctx context.Context, m Remainder) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("keep a remainder: %w", err)
	}
	return s.Store.Keep(ctx, remainderKind, m.Cluster, data)
}

// takenUp are the remainders of earlier runs that this one has mended: a target that it worked on, and did not leave out itself; a
// runbook that was left half done, and is done now.
func (r *runner) takenUp(ctx context.Context, own []Remainder) ([]Remainder, error) {
	var all []Remainder
	for _, name := range r.state.Header.clusters() {
		open, err := r.service.OpenRemainders(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, m := range open {
			out := slices.ContainsFunc(own, func(o Remainder) bool { return o.Cluster == m.Cluster && o.Target == m.Target })
			if m.Target == "" && m.Runbook == r.state.Header.Runbook || m.Target != "" && !out && r.state.workedOn(m) {
				m.Mended = "run " + r.journal.Run()
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// workedOn tells whether a step of the run was about a target: it was named to it, or the step is of the action that left it out.
func (s *State) workedOn(m Remainder) bool {
	return slices.ContainsFunc(s.Items, func(i *Item) bool {
		if i.Phase != Settled || s.looks(i) {
			return false
		}
		return textOf(i.Inputs["node"]) == m.Target || i.Target == m.Target || s.Header.Runbook == m.Runbook && i.Key == m.Step
	})
}

// OpenRemainders are what earlier runs of this store have left undone on a cluster, and nobody has mended since.
func (s *Service) OpenRemainders(ctx context.Context, cluster string) ([]Remainder, error) {
	records, err := s.Store.Records(ctx, remainderKind, cluster)
	if err != nil {
		return nil, err
	}
	var open []Remainder
	for _, record := range records {
		var m Remainder
		if err := json.Unmarshal(record.Data, &m); err != nil {
			return nil, fmt.Errorf("read a remainder of %s: %w", cluster, err)
		}
		open = slices.DeleteFunc(open, func(o Remainder) bool {
			later := m.Mended == "" && m.Target != "" && o.Target == m.Target // one is enough
			return later || o.Run == m.Run && o.Step == m.Step && o.Target == m.Target
		})
		if m.Mended == "" {
			open = append(open, m)
		}
	}
	return open, nil
}

// Mend notes that a person has mended what a run left undone. It returns what that was.
func (s *Service) Mend(ctx context.Context, run, reason string) ([]Remainder, error) {
	st, err := s.State(ctx, run)
	if err != nil {
		return nil, err
	}
	var mended []Remainder
	for _, name := range st.Header.clusters() {
		open, err := s.OpenRemainders(ctx, name)
		if err != nil {
			return mended, err
		}
		for _, m := range open {
			if m.Run != run {
				continue
			}
			m.Mended = strings.TrimSpace(s.User + ": " + reason)
			if err := s.keepRemainder(ctx, m); err != nil {
				return mended, err
			}
			mended = append(mended, m)
		}
	}
	return mended, nil
}
