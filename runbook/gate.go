package runbook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/durable"
)

// Production is the environment that gates are for.
const Production = "production"

// Rehearsal is a run inside a trial that was judged.
type Rehearsal struct {
	Trial    string         `json:"trial"` // its result folder or name
	Run      string         `json:"run"`
	Passed   bool           `json:"passed"`
	At       time.Time      `json:"at"`
	Hash     string         `json:"hash"` // of the runbook's text
	Versions map[string]int `json:"versions"`
	Product  string         `json:"product"`
	Minor    string         `json:"minor"` // 11.4
	Topology string         `json:"topology"`
	Idle     bool           `json:"idle,omitempty"` // nothing was to be done: it shows nothing
	// Took is how long its steps took, in seconds: later runs tell by it how far they are.
	Took map[string]float64 `json:"took,omitempty"`
}

// Rehearsal is what a run was, as part of a trial that was judged. It passed only if the run itself was done.
func (s *State) Rehearsal(run, trial string, passed bool) Rehearsal {
	h := s.Header
	var took map[string]float64
	if s.Outcome == Done {
		took = s.timings()
	}
	return Rehearsal{
		Took:  took,
		Trial: trial, Run: run, Passed: passed && s.Outcome == Done, At: time.Now().UTC(), Hash: h.Hash, Versions: h.Versions,
		Product: h.Product, Minor: minor(h.Version), Topology: h.Topology,
		Idle: !slices.ContainsFunc(s.Items, func(i *Item) bool { return i.Acts }),
	}
}

// Keep keeps a rehearsal of the runbook of this name, where the gate looks for it.
func (r Rehearsal) Keep(ctx context.Context, store *durable.Store, runbook string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep the rehearsal: %w", err)
	}
	return store.Keep(ctx, "rehearsal", runbook, data)
}

// GateState is how a gate stands for a run.
type GateState struct {
	Needed int         `json:"needed"` // 0: no gate, or not production
	Passed []Rehearsal `json:"passed,omitempty"`
	Why    string      `json:"why,omitempty"` // what the last one that does not count lacks
}

// Open tells whether the run may begin.
func (g GateState) Open() bool { return len(g.Passed) >= g.Needed }

// Refusal is the error for a closed gate; an override opens it for one run and stays with that run.
func (g GateState) Refusal(override string) error {
	if g.Open() || override != "" {
		return nil
	}
	return &GateError{g}
}

// GateError refuses a run in production.
type GateError struct{ GateState }

func (e *GateError) Error() string {
	text := fmt.Sprintf("the gate is closed: %d of %d consecutive rehearsals have passed", len(e.Passed), e.Needed)
	if e.Why != "" {
		text += "; " + e.Why
	}
	return text
}

// Hint says what to do.
func (e *GateError) Hint() string {
	return "rehearse it: run it in the timeline of trials that expect something and pass (docs/trial-reference.md, Runbooks); or --override REASON, which stays visible for ever"
}

// gate counts the consecutive passed rehearsals, from the latest back, that are of this very change.
func (s *Service) gate(ctx context.Context, b *Runbook, h Header) (GateState, error) {
	var g GateState
	if b.Gate == nil || h.Environment != Production {
		return g, nil
	}
	g.Needed = b.Gate.Rehearsals
	records, err := s.Store.Records(ctx, "rehearsal", b.Name)
	if err != nil {
		return g, err
	}
	for n := len(records) - 1; n >= 0 && !g.Open(); n-- {
		var r Rehearsal
		if err := json.Unmarshal(records[n].Data, &r); err != nil {
			return g, fmt.Errorf("read a rehearsal: %w", err)
		}
		if g.Why = differs(r, b, h); g.Why != "" {
			g.Why = fmt.Sprintf("the one of %s %s", r.At.Format(time.DateOnly), g.Why)
			break
		}
		g.Passed = append(g.Passed, r)
	}
	return g, nil
}

// differs says why a rehearsal does not count.
func differs(r Rehearsal, b *Runbook, h Header) string {
	switch {
	case !r.Passed:
		return "did not pass"
	case r.Idle:
		return "changed nothing: no step had anything to do"
	case r.Hash != h.Hash:
		return "was of another text of the runbook"
	case !maps.Equal(r.Versions, h.Versions):
		return "was with other versions of its actions"
	case r.Product != h.Product || r.Minor != minor(h.Version):
		return fmt.Sprintf("was on %s %s, this is %s %s", r.Product, r.Minor, h.Product, minor(h.Version))
	case r.Topology != h.Topology:
		return fmt.Sprintf("was on a cluster of class %s, this is %s", r.Topology, h.Topology)
	case b.Gate.MaxAge > 0 && time.Since(r.At) > time.Duration(b.Gate.MaxAge):
		return "is too old"
	}
	return ""
}

// minor is the first two numbers of a version.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
