package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// GateState is how a gate stands for a run.
type GateState struct {
	Needed  int                 `json:"needed"` // 0: not production, or no rehearsals are asked for
	Passed  []journal.Rehearsal `json:"passed,omitempty"`
	Alike   []string            `json:"alike,omitempty"`   // inputs that differ between a rehearsal and this run, and why they count as alike
	Why     string              `json:"why,omitempty"`     // what the last one that does not count lacks
	Missing bool                `json:"missing,omitempty"` // production, and neither the runbook nor the inventory says anything of a gate
	None    string              `json:"none,omitempty"`    // the reason why the runbook needs no rehearsals
	Default bool                `json:"default,omitempty"` // the gate is that of the inventory
}

// Open tells whether the run may begin.
func (g GateState) Open() bool { return !g.Missing && len(g.Passed) >= g.Needed }

// Refusal is the error for a closed gate; an override opens it for one run and stays with that run.
func (g GateState) Refusal(override string) error {
	if g.Open() || override != "" {
		return nil
	}
	return &GateError{GateState: g}
}

// GateError refuses a run in production.
type GateError struct {
	GateState
	Typed string // the runbook, the cluster and the inputs as a person typed them; "": not known
}

func (e *GateError) Error() string {
	if e.Missing {
		return "the cluster is in production, and the runbook has no gate"
	}
	text := fmt.Sprintf("the gate is closed: %d of %d rehearsals have passed", len(e.Passed), e.Needed)
	if e.Why != "" {
		text += "; " + e.Why
	}
	return text
}

// Hint says what to do.
func (e *GateError) Hint() string {
	rehearse, override := "plimsoll runbook rehearse RUNBOOK --cluster CLUSTER, with the inputs of this plan", "plimsoll runbook run RUNBOOK --cluster CLUSTER --override REASON"
	if e.Typed != "" {
		rehearse, override = "plimsoll runbook rehearse "+e.Typed, "plimsoll runbook run "+e.Typed+" --override REASON"
	}
	if e.Missing {
		return "add gate: {rehearsals: 3} to the runbook, or to plimsoll.yaml for all runbooks without a gate, then " + rehearse + "; or add gate: {none: REASON} to the runbook"
	}
	return rehearse + "; or, with a reason that is kept with the run: " + override
}

// CheckGate counts the passed rehearsals of this very change, from the latest back to one that failed. Those of something else, and
// those that taught nothing, neither count nor set the count back. rules is the gate of the inventory, for runbooks without one of their own.
func CheckGate(ctx context.Context, store *durable.Store, rules *runbook.Gate, b *runbook.Runbook, h journal.Header) (GateState, error) {
	var g GateState
	if h.Environment != runbook.Production {
		return g, nil
	}
	rule := b.Gate
	if rule == nil {
		rule, g.Default = rules, rules != nil
	}
	if rule == nil {
		g.Missing = true
		return g, nil
	}
	if g.None = rule.None; g.None != "" {
		return g, nil
	}
	g.Needed = rule.Rehearsals
	records, err := store.Records(ctx, "rehearsal", b.Name)
	if err != nil {
		return g, err
	}
	useless := "" // of one of another change that would not count for that either
	for n := len(records) - 1; n >= 0 && !g.Open(); n-- {
		var r journal.Rehearsal
		if err := json.Unmarshal(records[n].Data, &r); err != nil { // it may be one that did not pass: none before it counts
			g.Why = cmp.Or(g.Why, fmt.Sprintf("record %d of its rehearsals cannot be read (%v), and those before it do not count", records[n].Number, err))
			break
		}
		why, alike := Differs(r, b, rule, h)
		if text := fmt.Sprintf("the one of %s %s", r.When().Local().Format("2006-01-02 15:04"), why); why != "" {
			switch another, _ := ofAnotherChange(r, b, h); {
			case another == "" || proves(r) == "":
				g.Why = cmp.Or(g.Why, text)
			default:
				useless = cmp.Or(useless, text+", and "+proves(r))
			}
		}
		if why == failed {
			break
		}
		if why == "" {
			g.Passed = append(g.Passed, r)
			for _, a := range alike {
				if !slices.Contains(g.Alike, a) {
					g.Alike = append(g.Alike, a)
				}
			}
		}
	}
	g.Why = cmp.Or(g.Why, useless)
	if g.Open() {
		g.Why = ""
	}
	return g, nil
}

// failed is why a rehearsal of this very change does not count, nor those before it.
const failed = "did not pass"

// Differs says why a rehearsal does not count; of one that does, in what it differs and why that is alike.
func Differs(r journal.Rehearsal, b *runbook.Runbook, rule *runbook.Gate, h journal.Header) (why string, alike []string) {
	if why, alike = ofAnotherChange(r, b, h); why != "" {
		return why, nil
	}
	if rule.MaxAge > 0 && time.Since(r.At) > time.Duration(rule.MaxAge) {
		return "is too old", nil
	}
	if why := proves(r); why != "" {
		return why, nil
	}
	for _, s := range h.Plan.Steps {
		if id := runbook.IDOf(s.Key); s.State == action.Needed && !s.Skip && s.Effect != action.None && slices.Contains(r.Untouched, id) {
			return fmt.Sprintf("did not execute step %s, which this run will execute", id), nil
		}
	}
	return "", alike
}

// proves says why a rehearsal counts for no change at all; "" of one that counts for its own.
func proves(r journal.Rehearsal) string {
	switch {
	case r.Nothing != "":
		return "proved nothing: " + r.Nothing
	case !r.Passed:
		return failed
	case r.Idle:
		return "changed nothing: no step had anything to do"
	}
	return ""
}

// ofAnotherChange says why a rehearsal was one of another change, or on another kind of cluster; of one that was not, in what its inputs differ
// and why that is alike.
func ofAnotherChange(r journal.Rehearsal, b *runbook.Runbook, h journal.Header) (why string, alike []string) {
	switch {
	case r.Hash != h.Hash:
		return "was a rehearsal of another text of the runbook", nil
	case !maps.Equal(r.Versions, h.Versions):
		return "used other versions of its actions", nil
	case h.Product == "" && r.Product != "":
		return fmt.Sprintf("ran on %s %s, and this cluster does not tell what it runs", r.Product, r.Minor), nil
	case r.Product != h.Product || r.Minor != journal.MinorVersion(h.Version):
		return fmt.Sprintf("ran on %s %s, this cluster is %s %s", r.Product, r.Minor, h.Product, journal.MinorVersion(h.Version)), nil
	case r.Topology != h.Topology:
		return fmt.Sprintf("ran on a cluster of class %s, this cluster is of class %s", r.Topology, h.Topology), nil
	}
	return OtherInputs(b, r, h)
}
