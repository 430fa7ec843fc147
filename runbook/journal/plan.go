package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/hint"
)

// Misses tells whether the targets of a step's group were known when the plan was made, and the step's was none of them.
func (p Plan) Misses(i *Step) bool {
	return !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.Key == i.Key || s.Key == i.Group && s.Group() })
}

// Plan says what a runbook would do now: every check was executed for real, and nothing was changed.
type Plan struct {
	Runbook string     `json:"runbook"`
	Steps   []PlanStep `json:"steps"`
	Hash    string     `json:"hash"` // of all that an approval agrees to

	Makes    []action.Table `json:"-"` // the tables that its steps make
	MakesAny bool           `json:"-"` // they may make others, which nobody can tell
}

// AbsentTable is a table that a step needs, that is not there, and that no step before it makes.
type AbsentTable struct {
	Table action.Table
	Why   string // a sentence
}

// PlanStep is what one step would do.
type PlanStep struct {
	Key      string        `json:"key"`
	Uses     string        `json:"uses,omitempty"`
	Cluster  string        `json:"cluster,omitempty"` // on which it acts, if not the run's own
	Version  int           `json:"version,omitempty"`
	Effect   action.Effect `json:"effect,omitempty"`
	Inputs   action.Facts  `json:"inputs,omitempty"`
	State    action.State  `json:"state,omitempty"`
	Observed action.Facts  `json:"observed,omitempty"`
	Intended action.Facts  `json:"intended,omitempty"`
	Skip     bool          `json:"skip,omitempty"`
	Reason   string        `json:"reason,omitempty"`   // why unknown, or what the check failed with; not part of the hash
	Advice   string        `json:"advice,omitempty"`   // of a refusal: what to do; not part of the hash
	Later    []string      `json:"later,omitempty"`    // what is known only when these steps have run
	Approval string        `json:"approval,omitempty"` // the note of the approval it waits for
	Unasked  bool          `json:"unasked,omitempty"`  // that approval is not asked for: the plan finds nothing to do
	Signed   bool          `json:"signed,omitempty"`   // that approval is signed with a person's ssh key
	Caution  string        `json:"caution,omitempty"`  // why the action itself demands one
	Warnings []string      `json:"warnings,omitempty"` // what to know before it acts, though it may; not part of the hash
	Failed   bool          `json:"failed,omitempty"`   // its check could not be executed
	Denied   bool          `json:"denied,omitempty"`   // because the account lacks a privilege; not part of the hash

	Impossible bool `json:"-"` // that is for its inputs, whatever the cluster is like
	Whole      bool `json:"-"` // that refuses the whole run: the steps after it are not looked at
	Absent     bool `json:"-"` // that is for something that is not there, such as a table, a variable or a node

	Lacks []AbsentTable `json:"-"`
}

// Group tells whether it stands for a rolling group whose targets are known only later.
func (s PlanStep) Group() bool { return s.Uses == "" && s.Approval == "" && len(s.Later) > 0 }

// Idle tells whether the step has nothing to do, as far as the plan can tell; then nobody is asked about it.
func (s PlanStep) Idle() bool { return s.Skip || s.Unasked || s.State == action.Satisfied }

// Awaits lists what people are asked before the step acts.
func (s PlanStep) Awaits() []string {
	if s.Idle() {
		return nil
	}
	return slices.DeleteFunc([]string{s.Approval, s.Caution}, func(text string) bool { return text == "" })
}

// NothingToDo tells whether a run would change nothing: each step that could is satisfied already or skipped, and none is known only later.
// A plan of nothing but approvals, looks and waits is not such a one: they are what it is for.
func (p Plan) NothingToDo() bool {
	idle := false
	for _, s := range p.Steps {
		switch {
		case s.Failed, len(s.Later) > 0, s.State == action.Unknown, s.State == action.Needed && s.Effect != action.None:
			return false
		case s.Uses != "" && s.Effect != action.None && (s.Skip || s.State == action.Satisfied):
			idle = true
		}
	}
	return idle
}

// MayAct tells whether a run could do something: a step is needed, or known only later.
func (p Plan) MayAct() bool {
	return slices.ContainsFunc(p.Steps, func(s PlanStep) bool {
		return len(s.Later) > 0 || s.Uses != "" && !s.Idle() && s.State == action.Needed
	})
}

// Unasks tells whether an approval is not asked for, since the plan found nothing to do.
func (p Plan) Unasks(key string) bool {
	return slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.Key == key && s.Unasked })
}

// looks tells whether a step is one that changes nothing, by its plan.
func (p Plan) looks(key string) bool {
	return slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.Key == key && s.Uses != "" && s.Effect == action.None })
}

// HashFor covers what a person agrees to: the text, the inputs, the place, and of every step what was seen and is meant.
func (p Plan) HashFor(h Header) string {
	steps := slices.Clone(p.Steps)
	for i := range steps {
		steps[i].Reason, steps[i].Advice, steps[i].Denied, steps[i].Warnings = "", "", false, nil
	}
	data, err := json.Marshal(struct {
		Hash, Cluster, Environment string
		Inputs                     map[string]any
		Versions                   map[string]int
		Steps                      []PlanStep
	}{h.Hash, h.Cluster, h.Environment, h.Inputs, h.Versions, steps})
	if err != nil {
		panic("runbook: the plan is not JSON: " + err.Error()) // its parts came from JSON or YAML
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Trouble lists why a run that began now would stop, with what to do as its hint. Steps that are refused with the same advice, or reason,
// as those of a rolling group are, stand together.
func (p Plan) Trouble() error {
	var all error
	var advice []string
	for n, s := range p.Steps {
		switch {
		case s.State == action.Unknown:
			all = errors.Join(all, fmt.Errorf("step %s: Plimsoll cannot tell whether it is needed: %s", s.Key, s.Reason))
		case s.Failed && !slices.ContainsFunc(p.Steps[:n], s.failsAs):
			all = errors.Join(all, p.failed(n))
			if s.Advice != "" {
				advice = append(advice, s.Advice)
			}
		}
	}
	if len(advice) > 0 {
		all = hint.With(all, strings.Join(advice, "; "))
	}
	if all != nil && !slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return !s.Impossible && (s.Failed || s.State == action.Unknown) }) {
		return &ImpossibleError{all}
	}
	return all
}

// ImpossibleError says that steps have inputs that they can never have, whatever the cluster is like.
type ImpossibleError struct{ Err error }

func (e *ImpossibleError) Error() string { return e.Err.Error() }
func (e *ImpossibleError) Unwrap() error { return e.Err }

// failsAs tells whether two steps cannot be checked for the same want: their advice is the same, or, where there is none, their reason.
func (s PlanStep) failsAs(other PlanStep) bool {
	return s.Failed && other.Failed && s.Advice == other.Advice && (s.Advice != "" || s.Reason == other.Reason)
}

// failed says why a step cannot be checked, and which after it cannot either for the same want.
func (p Plan) failed(n int) error {
	first, keys, reason := p.Steps[n], []string{p.Steps[n].Key}, p.Steps[n].Reason
	for _, s := range p.Steps[n+1:] {
		if first.failsAs(s) {
			keys = append(keys, s.Key)
			if s.Reason != first.Reason {
				reason = first.Reason + ", and the same for the others"
			}
		}
	}
	if len(keys) == 1 {
		return fmt.Errorf("step %s cannot be checked: %s", first.Key, reason)
	}
	return fmt.Errorf("steps %s cannot be checked: %s", strings.Join(keys, ", "), reason)
}
