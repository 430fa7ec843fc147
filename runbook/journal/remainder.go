package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook"
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
			if i.Phase == StepDone {
				all = append(all, Remainder{Cluster: on, Runbook: s.Header.Runbook, Step: i.Key, Target: target, Why: runbook.TextOf(left[target])})
			}
		}
	}
	return all
}

// Keep notes a remainder in a store.
func (m Remainder) Keep(ctx context.Context, store *durable.Store) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("keep a remainder: %w", err)
	}
	return store.Keep(ctx, remainderKind, m.Cluster, data)
}

// WorkedOn tells whether a step of the run was about a target: it was named to it, or the step is of the action that left it out.
func (s *State) WorkedOn(m Remainder) bool {
	return slices.ContainsFunc(s.Items, func(i *Step) bool {
		if i.Phase != StepDone || s.Looks(i) {
			return false
		}
		return runbook.TextOf(i.Inputs["node"]) == m.Target || i.Target == m.Target || s.Header.Runbook == m.Runbook && i.Key == m.Step
	})
}

// Same tells whether two records are about the same remainder.
func (m Remainder) Same(o Remainder) bool {
	return o.Run == m.Run && o.Step == m.Step && o.Target == m.Target
}

// AllRemainders are the records of a cluster, in their order, also of what was mended.
func AllRemainders(ctx context.Context, store *durable.Store, cluster string) ([]Remainder, error) {
	records, err := store.Records(ctx, remainderKind, cluster)
	if err != nil {
		return nil, err
	}
	var all []Remainder
	for _, record := range records {
		var m Remainder
		if err := json.Unmarshal(record.Data, &m); err != nil {
			return nil, fmt.Errorf("read a remainder of %s: %w", cluster, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// OpenRemainders are what earlier runs of a store have left undone on a cluster, and nobody has mended since.
func OpenRemainders(ctx context.Context, store *durable.Store, cluster string) ([]Remainder, error) {
	all, err := AllRemainders(ctx, store, cluster)
	if err != nil {
		return nil, err
	}
	var open []Remainder
	for _, m := range all {
		open = slices.DeleteFunc(open, func(o Remainder) bool {
			later := m.Mended == "" && m.Target != "" && o.Target == m.Target // one is enough
			return later || o.Same(m)
		})
		if m.Mended == "" {
			open = append(open, m)
		}
	}
	return open, nil
}
