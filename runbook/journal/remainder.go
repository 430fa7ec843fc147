package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

// Remainder is what a run left undone on a cluster, until it is mended: a target that a step left out, what the undo of a step left as it is,
// or all that stands of a run whose cluster was given back as it is.
type Remainder struct {
	Cluster string         `json:"cluster"`
	Run     string         `json:"run"`
	Runbook string         `json:"runbook"`
	Step    string         `json:"step,omitempty"`
	Target  string         `json:"target,omitempty"` // that was left out; empty: the run was left as it is
	Undo    bool           `json:"undo,omitempty"`   // the target was left by the undo of the step
	Inputs  map[string]any `json:"inputs,omitempty"` // of the step whose undo it was: another step of that name is about something else
	Why     string         `json:"why"`
	At      time.Time      `json:"at,omitzero"`
	Mended  string         `json:"mended,omitempty"` // by which run, or by whom and why: it is none any more
	Damage  string         `json:"damage,omitempty"` // why the record cannot be read: what it says is not known
	Record  int            `json:"record,omitempty"` // the number of that record
}

// String says it for people.
func (m Remainder) String() string {
	switch {
	case m.Damage != "":
		return fmt.Sprintf("cluster %s: %s", m.Cluster, m.Damage)
	case m.Target == "":
		return fmt.Sprintf("cluster %s: run %s of %s is half done: %s", m.Cluster, m.Run, m.Runbook, m.Why)
	case m.Undo:
		return fmt.Sprintf("cluster %s: run %s of %s was undone, except %s (step %s): %s", m.Cluster, m.Run, m.Runbook, m.Target, m.Step, m.Why)
	}
	return fmt.Sprintf("cluster %s: %s was left out by run %s of %s, step %s: %s", m.Cluster, m.Target, m.Run, m.Runbook, m.Step, m.Why)
}

// remainderKind is the kind of the records, which stand under the name of a cluster.
const remainderKind = "remainder"

// Remainders are the targets that steps of the run have left out, and what undos have left as it is, as the actions say.
func (s *State) Remainders() []Remainder {
	var all []Remainder
	for _, i := range s.Items {
		m := Remainder{Cluster: cmp.Or(i.Cluster, s.Header.Cluster), Runbook: s.Header.Runbook, Step: i.Key}
		switch i.Phase {
		case StepDone:
			left, _ := i.Output[action.LeftOut].(map[string]any)
			for _, m.Target = range document.SortedKeys(left) {
				m.Why = runbook.TextOf(left[m.Target])
				all = append(all, m)
			}
		case StepUndone:
			m.Undo, m.Inputs = true, i.about()
			for _, m.Target = range document.SortedKeys(i.Left) {
				m.Why = i.Left[m.Target]
				all = append(all, m)
			}
		}
	}
	return all
}

// LeftByUndo are those of a run's remainders that undos have left, also of a run that was not undone to the end.
func LeftByUndo(s *State) []Remainder {
	return slices.DeleteFunc(s.Remainders(), func(m Remainder) bool { return !m.Undo })
}

// Keep notes a remainder in a store.
func (m Remainder) Keep(ctx context.Context, store *durable.Store) error {
	data, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("keep a remainder: %w", err)
	}
	return store.Keep(ctx, remainderKind, m.Cluster, data)
}

// WorkedOn tells whether a step of the run was about a target: it was named to it, or the step is of the action that left it out. What an undo
// left is no node but a sentence: the step that was undone must have acted again, on the same cluster, with the same inputs.
func (s *State) WorkedOn(m Remainder) bool {
	return slices.ContainsFunc(s.Items, func(i *Step) bool {
		if i.Phase != StepDone || s.Looks(i) {
			return false
		}
		again, node := s.Header.Runbook == m.Runbook && i.Key == m.Step, runbook.TextOf(i.Inputs["node"])
		if m.Undo {
			return again && i.Acts && cmp.Or(i.Cluster, s.Header.Cluster) == m.Cluster && alike(i.about(), m.Inputs)
		}
		return again && node == "" || node == m.Target || i.Target == m.Target // a step for one node says nothing of another
	})
}

// about is what a step was given when it acted, with the node where it names none and found the primary.
func (i *Step) about() map[string]any {
	inputs := maps.Clone(i.Did)
	if node, found := i.Found["node"]; found && (inputs["node"] == nil || inputs["node"] == "") {
		if inputs == nil {
			inputs = map[string]any{}
		}
		inputs["node"] = node
	}
	return inputs
}

// alike compares inputs as they are stored: a number may have been read back since.
func alike(a, b map[string]any) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	one, err := json.Marshal(a)
	other, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(one, other)
}

// Same tells whether two records are about the same remainder.
func (m Remainder) Same(o Remainder) bool {
	return o.Run == m.Run && o.Step == m.Step && o.Target == m.Target && o.Record == m.Record
}

// AllRemainders are the records of a cluster, in their order, also of what was mended. One that cannot be read says so, and hides no other.
func AllRemainders(ctx context.Context, store *durable.Store, cluster string) ([]Remainder, error) {
	records, err := store.Records(ctx, remainderKind, cluster)
	if err != nil {
		return nil, err
	}
	var all []Remainder
	for _, record := range records {
		var m Remainder
		if err := json.Unmarshal(record.Data, &m); err != nil {
			m = Remainder{Cluster: cluster, Record: record.Number, At: record.At, Damage: fmt.Sprintf("record %d of what runs left undone on it cannot be read (%v): check whether something of a run from before %s is left",
				record.Number, err, record.At.Local().Format(time.DateTime))}
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
