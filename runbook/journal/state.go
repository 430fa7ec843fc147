package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/runbook"
)

// State is a run as its events tell it. It is folded, never stored.
type State struct {
	Header     Header
	Versions   map[string]int // of the actions: as planned, or as a person said since
	Book       *runbook.Runbook
	Items      []*Step // in order; those of a group once its targets are known
	Targets    map[string][]string
	Healthy    map[string]bool          // group[target]: the cluster was healthy before it
	Settling   map[string]time.Duration // by group: the longest that was waited for that
	Held       string                   // why a guardrail holds it
	Guardrail  string                   // that guardrail
	Cause      Cause                    // why it failed, where that is nothing that the change did
	Blind      bool                     // the guardrail holds it because metrics are missing, not because of what they show
	Baseline   map[string]float64
	Stopping   *Event // a person cancelled, or its runbook has a failure undone
	Undoing    bool
	Stuck      string // why no more can be undone
	Outcome    Outcome
	Parked     bool
	Past       bool              // it parked since another run had the cluster: it cannot be resumed
	Refused    string            // why the last cancellation was not taken
	Why        string            // it parked or ended, if it says
	Heard      int               // number of the last message taken
	Epochs     map[string]int64  // of the leases, by cluster
	Unclaimed  map[string]string // why the claim could not be stored yet, by cluster: other state folders do not see the run
	Holder     string            // who executes it, or did last
	Session    int               // of the holder
	Since      time.Time         // when that began
	Orders     []Command
	Released   bool            // it ended, and gave its clusters back
	Claimed    map[string]bool // the clusters that have stored its claim, in whichever session
	ClaimStays []string        // the clusters from which its claim could not be removed when it ended
	Taken      time.Time       // when it first had its clusters, since it gave them back last
	Changed    time.Time       // of the last event
	Ended      time.Time       // when it ended last
	Events     int

	Before  Outcome            // a cancellation that is not taken
	Stopper string             // the guardrail that ended it
	Reading map[string]float64 // of the metrics, then

	Leaves string // why its cluster was given back as it is
}

// noteHalt notes how the run stood before a cancellation; one that was cut off and is said again is the same.
func noteHalt(s *State) {
	if s.Stopping == nil || s.Outcome != "" {
		s.Before = s.Outcome
	}
}

// Fold reads a run's journal.
func Fold(entries []durable.Entry, actions []action.Action) (*State, error) {
	s := &State{Targets: map[string][]string{}, Healthy: map[string]bool{}, Settling: map[string]time.Duration{}}
	for _, e := range entries {
		if err := s.Apply(e, actions); err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Number, err)
		}
	}
	return s, nil
}

// Clone returns the same state, which takes more entries without changing the one it was made of.
func Clone(s *State) *State {
	next := *s
	next.Targets, next.Healthy, next.Settling, next.Unclaimed = maps.Clone(s.Targets), maps.Clone(s.Healthy), maps.Clone(s.Settling), maps.Clone(s.Unclaimed)
	next.Claimed = maps.Clone(s.Claimed)
	next.Orders, next.Items = slices.Clone(s.Orders), make([]*Step, len(s.Items))
	for n, i := range s.Items {
		one := *i
		one.Approved = slices.Clone(i.Approved)
		next.Items[n] = &one
	}
	return &next
}

// Apply takes one more entry.
func (s *State) Apply(entry durable.Entry, actions []action.Action) error {
	var e Event
	if err := json.Unmarshal(entry.Data, &e); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	s.Events, s.Changed = entry.Number, entry.At
	s.Heard = max(s.Heard, e.Message)
	if e.Kind == Ended {
		s.Ended = entry.At
	}
	if e.Kind == Opened {
		s.Session, s.Since = entry.Session, entry.At
		clear(s.Healthy) // that was then
	}
	if e.Baseline != nil {
		s.Baseline = e.Baseline
	}
	if e.Step != "" && e.Kind != Targeted && e.Kind != Ready && (e.Kind != Said || e.Reached != "" || e.Nothing) {
		item := s.Item(e.Step)
		if item == nil {
			return fmt.Errorf("there is no step %s", e.Step)
		}
		return item.apply(e, entry)
	}
	return s.ApplyEvent(e, actions)
}

func (s *State) ApplyEvent(e Event, actions []action.Action) error {
	switch e.Kind {
	case Began:
		if e.Header == nil {
			return fmt.Errorf("a run without a header")
		}
		book, err := runbook.ParseStored(e.Header.Runbook, []byte(e.Header.Text), actions)
		if err != nil {
			return fmt.Errorf("the runbook of the run: %w", err)
		}
		s.Header, s.Book, s.Versions = *e.Header, book, e.Header.Versions
		s.Epochs, s.Taken = e.Header.Locked, e.Header.LockedAt
		noteClaimed(s, e.Header.Locked, nil)
		s.Expand()
	case Opened:
		if s.Released || s.Taken.IsZero() {
			s.Taken = s.Changed
		}
		s.Released, s.Refused = s.Released && e.Order == nil, "" // without an order, what an ended run still has is given back, and no more
		s.Parked, s.Past, s.Why, s.Held, s.Epochs, s.Holder = false, false, "", "", e.Epochs, e.Holder
		s.Unclaimed, s.ClaimStays = e.Unclaimed, nil
		noteClaimed(s, e.Epochs, e.Unclaimed)
		if e.Versions != nil {
			s.Versions = e.Versions
		}
		if e.Order != nil {
			s.Orders, s.Cause = append(s.Orders, *e.Order), ""
			return obeyCommand(s, *e.Order, e)
		}
	case Targeted:
		s.Targets[e.Step] = e.Targets
		if e.Targets == nil {
			s.Targets[e.Step] = []string{}
		}
		s.Expand()
	case Ready:
		s.Healthy[e.Step] = true
		group, _, _ := strings.Cut(e.Step, "[")
		s.Settling[group] = max(s.Settling[group], e.Took)
	case Held:
		s.Held, s.Guardrail, s.Blind = e.Reason, e.Guardrail, e.Blind
	case Freed:
		s.Held = ""
	case Said:
		if e.Claimed {
			delete(s.Unclaimed, e.Cluster)
			noteClaimed(s, map[string]int64{e.Cluster: 0}, nil)
		}
		if e.Claim {
			s.ClaimStays = append(slices.Clip(s.ClaimStays), cmp.Or(e.Cluster, s.Header.Cluster))
		}
	case Stopping:
		noteHalt(s)
		s.Stopping, s.Undoing = &e, e.Undo
	case Parked:
		s.Parked, s.Past, s.Why = true, e.Past, e.Reason
		if e.Forward {
			s.Refused = e.Reason
			s.Stopping, s.Undoing, s.Outcome = nil, false, s.Before
		}
	case Ended:
		s.Cause = e.Cause
		s.Outcome, s.Why, s.Released = e.Outcome, e.Reason, e.Outcome != RunFailed
		s.Leaves = e.Leave
		s.Stopper, s.Reading = e.Guardrail, nil
		if e.Guardrail != "" {
			s.Reading = e.Metrics
		}
	default:
		return fmt.Errorf("an event of kind %q, which this Plimsoll does not know", e.Kind)
	}
	return nil
}

// HalfUndone tells whether the run was being undone when its process ended. Whoever cancels it then, and does not say that it is to be left
// as it is, has it undone further: what is half undone is no state to give a cluster back in, nor one to go forward from.
func (s *State) HalfUndone() bool { return s.Undoing && s.Outcome == "" }

// tryUndosAgain forgets that undos failed, where a run has failed by that or since.
func tryUndosAgain(s *State) {
	if s.Outcome != RunFailed {
		return
	}
	for _, i := range s.Items {
		if i.UndoFailed() {
			i.Asks = false
		}
	}
}

// obeyCommand takes the order of a session.
func obeyCommand(s *State, o Command, e Event) error {
	switch o.Do {
	case DoCancel:
		tryUndosAgain(s)
		noteHalt(s)
		e.Leave = o.Leave
		s.Stopping, s.Undoing, s.Outcome, s.Stuck = &e, o.Undo, "", ""
	case DoResume:
		clear(s.Healthy)
		if s.Outcome == RunFailed {
			tryUndosAgain(s)
			s.Outcome = ""
			for _, i := range s.Items {
				if i.Phase == StepFailed {
					i.reset()
				}
			}
		}
	case DoRerun:
		at := slices.IndexFunc(s.Items, func(i *Step) bool { return i.Key == o.Step })
		if at < 0 {
			return fmt.Errorf("rerun of step %s, which does not exist", o.Step)
		}
		s.Outcome, s.Stopping, s.Undoing = "", nil, false
		clear(s.Healthy)
		for n, i := range s.Items {
			if n == at || n > at && (o.Downstream || i.Phase == StepFailed) || i.Phase == StepUndone || i.UndoFailed() && !i.Lasts {
				i.reset()
			}
		}
	}
	return nil
}

// Rerunnable refuses to do a step again on what was undone before it, or half undone.
func (s *State) Rerunnable(step string) error {
	for _, i := range s.Items {
		if i.Key == step {
			break
		}
		if i.UndoFailed() && !i.Lasts {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("the undo of step %s, before %s, failed: what it left is not known", i.Key, step),
				Advice: fmt.Sprintf("plimsoll runbook rerun RUN --step '%s' --downstream --reason REASON checks it and does what is missing", i.Key),
			}
		}
		if i.Phase == StepUndone {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("step %s, before %s, was undone", i.Key, step),
				Advice: fmt.Sprintf("plimsoll runbook rerun RUN --step '%s' --downstream --reason REASON, or begin a new run", i.Key),
			}
		}
	}
	return nil
}

// Expand makes the items of all steps whose targets are known, and keeps those there are.
func (s *State) Expand() {
	old := map[string]*Step{}
	for _, i := range s.Items {
		old[i.Key] = i
	}
	s.Items = nil
	add := func(step *runbook.Step, group, target string) {
		key := Key(group, target, step.ID)
		i := old[key]
		if i == nil {
			i = &Step{Key: key, Step: step, Group: group, Target: target, Phase: StepWaiting}
		}
		s.Items = append(s.Items, i)
	}
	for n := range s.Book.Steps {
		step := &s.Book.Steps[n]
		if step.Rolling == nil {
			add(step, "", "")
			continue
		}
		for _, target := range s.Targets[step.ID] {
			for m := range step.Steps {
				add(&step.Steps[m], step.ID, target)
			}
		}
	}
}

// Epoch is that of the lease of the cluster on which a step acts.
func (s *State) Epoch(i *Step) int64 {
	if i.Cluster == "" {
		return s.Epochs[s.Header.Cluster]
	}
	return s.Epochs[i.Cluster]
}

// Item returns a step by its key, nil if there is none.
func (s *State) Item(key string) *Step {
	for _, i := range s.Items {
		if i.Key == key {
			return i
		}
	}
	return nil
}

// Position is the step a run is at, for people: the first that is neither over nor waiting.
func (s *State) Position() string {
	var at []string
	for _, i := range s.Items {
		if !i.Over() && i.Phase != StepWaiting && i.Phase != StepUndone {
			at = append(at, i.Key)
		}
	}
	return strings.Join(at, ", ")
}

// Env is what a step's expressions see.
func (s *State) Env(i *Step) map[string]any {
	steps := map[string]any{}
	for _, other := range s.Items {
		if other.Group != "" && (i == nil || other.Group != i.Group || other.Target != i.Target) {
			continue // a step of a group is seen by those of its own target
		}
		seen := map[string]any{"state": string(other.Phase), "output": map[string]any(other.Output), "observed": map[string]any{}}
		if other.Finding != nil {
			seen["observed"] = map[string]any(other.Finding.Observed)
		}
		steps[other.Step.ID] = seen
	}
	env := map[string]any{
		"inputs": map[string]any(s.Header.Inputs), "steps": steps,
		"cluster": map[string]any{
			"name": s.Header.Cluster, "environment": s.Header.Environment, "engine": s.Header.Engine, "product": s.Header.Product, "version": s.Header.Version,
			"primary": s.Header.Primary,
		},
	}
	if i != nil {
		env["target"] = i.Target
	}
	return env
}

// noteClaimed notes which of the clusters that a session took have stored its claim.
func noteClaimed(s *State, taken map[string]int64, not map[string]string) {
	for name := range taken {
		if not[name] == "" {
			if s.Claimed == nil {
				s.Claimed = map[string]bool{}
			}
			s.Claimed[name] = true
		}
	}
}

// HadClaim tells whether a cluster is known to have stored the claim of a run, be it in an earlier session.
func HadClaim(s *State, name string) bool { return s.Unclaimed[name] == "" || s.Claimed[name] }

// LeavesClaim tells whether the run has left its claim in a cluster: it could not be removed, and had been stored.
func LeavesClaim(s *State, name string) bool {
	return slices.Contains(s.ClaimStays, name) && HadClaim(s, name)
}
