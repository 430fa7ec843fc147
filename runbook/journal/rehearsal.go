package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/runbook"
)

// Rehearsal is a run inside a trial that was judged.
type Rehearsal struct {
	Trial       string         `json:"trial"` // its result folder or name
	Run         string         `json:"run"`
	Passed      bool           `json:"passed"`
	Nothing     string         `json:"nothing,omitempty"` // why its trial taught nothing of the change: it neither counts nor sets the count back
	At          time.Time      `json:"at"`                // when it was judged
	Began       time.Time      `json:"began,omitzero"`    // its trial; zero: not known
	Hash        string         `json:"hash"`              // of the runbook's text
	Versions    map[string]int `json:"versions"`
	Inputs      action.Facts   `json:"inputs,omitempty"`
	Roles       runbook.Roles  `json:"roles,omitempty"`
	Cluster     string         `json:"cluster,omitempty"`
	Environment string         `json:"environment,omitempty"`
	Product     string         `json:"product"`
	Minor       string         `json:"minor"` // 11.4
	Topology    string         `json:"topology"`
	Idle        bool           `json:"idle,omitempty"`      // no step had anything to do: it shows nothing
	Untouched   []string       `json:"untouched,omitempty"` // the ids of steps that would change something and had nothing to do, or were skipped
	// Took is how long its steps took, in seconds: later runs tell by it how far they are.
	Took map[string]float64 `json:"took,omitempty"`
}

// Rehearsal is what a run was, as part of a trial that was judged. It passed only if the run itself was done.
func (s *State) Rehearsal(run, trial string, passed bool) Rehearsal {
	h := s.Header
	var took map[string]float64
	if s.Outcome == RunDone {
		took = s.Timings()
	}
	return Rehearsal{
		Took:  took,
		Trial: trial, Run: run, Passed: passed && s.Outcome == RunDone, At: time.Now().UTC(), Hash: h.Hash, Versions: h.Versions,
		Inputs: h.Inputs, Roles: h.Roles, Cluster: h.Cluster, Environment: h.Environment,
		Product: h.Product, Minor: MinorVersion(h.Version), Topology: h.Topology,
		Idle:      !slices.ContainsFunc(s.Items, func(i *Step) bool { return i.Acts }),
		Untouched: s.Untouched(),
	}
}

// When is the time by which a rehearsal is named: that of its trial in lists of results.
func (r Rehearsal) When() time.Time {
	if r.Began.IsZero() {
		return r.At
	}
	return r.Began
}

// SameChange tells whether two rehearsals were of one change on one kind of cluster.
func (r Rehearsal) SameChange(other Rehearsal) bool {
	return other.Hash == r.Hash && maps.Equal(other.Versions, r.Versions) && other.Product == r.Product && other.Minor == r.Minor &&
		other.Topology == r.Topology && SameValue(other.Inputs, r.Inputs)
}

// With joins two runs of one change in one trial into one rehearsal: a step counts as executed if either executed it.
func (r Rehearsal) With(other Rehearsal) Rehearsal {
	r.Idle = r.Idle && other.Idle
	r.Untouched = slices.DeleteFunc(slices.Clone(r.Untouched), func(id string) bool { return !slices.Contains(other.Untouched, id) })
	return r
}

// Keep keeps a rehearsal of the runbook of this name, where the gate looks for it.
func (r Rehearsal) Keep(ctx context.Context, store *durable.Store, runbook string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep the rehearsal: %w", err)
	}
	return store.Keep(ctx, "rehearsal", runbook, data)
}

// Untouched lists the ids of the steps that would change something and did not: they had nothing to do, or were skipped. A step of a
// group counts as executed if it was for one of its targets.
func (s *State) Untouched() []string {
	var acted, idle []string
	for _, i := range s.Items {
		switch id := i.Step.ID; {
		case i.Acts:
			acted = append(acted, id)
		case i.Over() && changesSomething(s, i) && !slices.Contains(idle, id):
			idle = append(idle, id)
		}
	}
	return slices.DeleteFunc(idle, func(id string) bool { return slices.Contains(acted, id) })
}

// AlreadySo lists the keys of the steps that would change something, were satisfied already when the run was planned, and were
// therefore never executed.
func (s *State) AlreadySo() []string {
	var keys []string
	for _, i := range s.Items {
		planned := slices.ContainsFunc(s.Header.Plan.Steps, func(p PlanStep) bool { return p.Key == i.Key && p.State == action.Satisfied })
		if planned && !i.Acts && i.Phase == StepDone && changesSomething(s, i) {
			keys = append(keys, i.Key)
		}
	}
	return keys
}

// ActedWithEngine tells whether any step acted that is more than a command beside the change.
func (s *State) ActedWithEngine() bool {
	return slices.ContainsFunc(s.Items, func(i *Step) bool { return i.Acts && i.Step.Uses != action.CommandName && changesSomething(s, i) })
}

// changesSomething tells whether a step leaves something behind when it acts.
func changesSomething(s *State, i *Step) bool {
	if i.Step.Uses == "" {
		return false
	}
	if task, err := s.Book.Bind(i.Step.Uses, i.Inputs); err == nil {
		return task.Traits().Effect != action.None
	}
	return !s.Book.Looks(i.Key)
}

// SameValue compares values of which one was kept as JSON and read again.
func SameValue(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// MinorVersion is the first two numbers of a version.
func MinorVersion(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
