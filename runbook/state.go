package runbook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/hint"
)

// State is a run as its events tell it. It is folded, never stored.
type State struct {
	Header   Header
	Versions map[string]int // of the actions: as planned, or as a person said since
	Book     *Runbook
	Items    []*Item // in order; those of a group once its targets are known
	Targets  map[string][]string
	Healthy  map[string]bool          // group[target]: the cluster was healthy before it
	Settling map[string]time.Duration // by group: the longest that was waited for that
	Held     string                   // why a guardrail holds it
	Rail     string                   // that guardrail
	Cause    Cause                    // why it ended broken, where the change has no part in that
	Blind    bool                     // it holds for want of metrics, not for what they say
	Baseline map[string]float64
	Stopping *Event // a person cancelled, or its runbook has a failure undone
	Undoing  bool
	Stuck    string // why no more can be undone
	Outcome  Outcome
	Parked   bool
	Refused  string           // why the last cancellation was not taken
	Why      string           // it parked or ended, if it says
	Heard    int              // number of the last message taken
	Epochs   map[string]int64 // of the leases, by cluster
	Holder   string           // who executes it, or did last
	Stint    int              // of the holder
	Since    time.Time        // when that began
	Orders   []Order
	Released bool      // it ended, and gave its clusters back
	Taken    time.Time // when a stint of it first had its clusters, since it gave them back last
	Changed  time.Time // of the last event
	Events   int

	before Outcome // a cancellation that is not taken
	leaves string  // why its cluster was given back as it is
}

// halted notes how the run stood before a cancellation; one that was cut off and is said again is the same.
func (s *State) halted() {
	if s.Stopping == nil || s.Outcome != "" {
		s.before = s.Outcome
	}
}

// Phase is where a step stands.
type Phase string

// The phases.
const (
	Waiting   Phase = "waiting" // for those before it
	Checking  Phase = "checking"
	Asking    Phase = "approval"
	Due       Phase = "due" // to act
	Acting    Phase = "acting"
	Verifying Phase = "verifying"
	Resting   Phase = "retry" // until the next attempt
	Settled   Phase = "done"
	Skipped   Phase = "skipped"
	Dead      Phase = "failed"
	Reverting Phase = "undoing"
	Reverted  Phase = "undone"
)

// Item is one step, or one step for one target.
type Item struct {
	Key      string // id, or group[target].id
	Step     *Step
	Group    string
	Target   string
	Cluster  string // on which it acts, as evaluated; empty: the run's own
	Phase    Phase
	Inputs   map[string]any // as evaluated, nil before
	Did      map[string]any // the inputs with which it acted last, by which it is taken back
	Finding  *action.CheckResult
	Before   action.Facts // observed before the first act of this intention
	Found    action.Facts // observed before the first act of all: what an undo goes back to
	Output   action.Facts
	Attempt  int // of acting, from 1
	Failures int // since the last rerun
	Token    string
	Since    time.Time // of the first intent
	Intent   int       // number of the entry that holds the last intent; 0: there is none open
	Begun    int       // number of the entry that held the last intent, over or not; 0: it never acted
	Acts     bool      // it has changed something, or may have
	Until    time.Time // of the next attempt, or of the approval
	Question int       // number of the entry in which people were asked last
	Approved []string  // by whom
	Caution  string
	Error    string
	Advice   string        // what to do about it
	Cause    Cause         // of Error, where the change has no part in it
	Asks     bool          // a person must look
	Lasts    bool          // its undo was refused: what it did is irreversible
	Open     bool          // what was begun may still be under way
	Undo     int           // number of the entry that holds the last begun undo; 0: none open
	Took     time.Duration // worked on, over all attempts: without waiting for people, guardrails or another stint
}

// Key is the name of a step, of a target if it is in a group.
func Key(group, target, id string) string {
	if group == "" {
		return id
	}
	return group + "[" + target + "]." + id
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

// Apply takes one more entry.
func (s *State) Apply(entry durable.Entry, actions []action.Action) error {
	var e Event
	if err := json.Unmarshal(entry.Data, &e); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	s.Events, s.Changed = entry.Number, entry.At
	s.Heard = max(s.Heard, e.Message)
	if e.Kind == Opened {
		s.Stint, s.Since = entry.Stint, entry.At
		clear(s.Healthy) // that was then
	}
	if e.Baseline != nil {
		s.Baseline = e.Baseline
	}
	if e.Step != "" && e.Kind != Targeted && e.Kind != Ready && e.Kind != Said {
		item := s.Item(e.Step)
		if item == nil {
			return fmt.Errorf("there is no step %s", e.Step)
		}
		return item.apply(e, entry)
	}
	return s.apply(e, actions)
}

func (s *State) apply(e Event, actions []action.Action) error {
	switch e.Kind {
	case Began:
		if e.Header == nil {
			return fmt.Errorf("a run without a header")
		}
		book, err := reread(e.Header.Runbook, []byte(e.Header.Text), actions)
		if err != nil {
			return fmt.Errorf("the runbook of the run: %w", err)
		}
		s.Header, s.Book, s.Versions = *e.Header, book, e.Header.Versions
		s.expand()
	case Opened:
		if s.Released || s.Taken.IsZero() {
			s.Taken = s.Changed
		}
		s.Released, s.Refused = s.Released && e.Order == nil, "" // without an order, what an ended run still has is given back, and no more
		s.Parked, s.Why, s.Held, s.Epochs, s.Holder = false, "", "", e.Epochs, e.Holder
		if e.Versions != nil {
			s.Versions = e.Versions
		}
		if e.Order != nil {
			s.Orders = append(s.Orders, *e.Order)
			return s.obey(*e.Order, e)
		}
	case Targeted:
		s.Targets[e.Step] = e.Targets
		if e.Targets == nil {
			s.Targets[e.Step] = []string{}
		}
		s.expand()
	case Ready:
		s.Healthy[e.Step] = true
		group, _, _ := strings.Cut(e.Step, "[")
		s.Settling[group] = max(s.Settling[group], e.Took)
	case Held:
		s.Held, s.Rail, s.Blind = e.Reason, e.Rail, e.Blind
	case Freed:
		s.Held = ""
	case Said:
	case Stopping:
		s.halted()
		s.Stopping, s.Undoing = &e, e.Undo
	case Parked:
		s.Parked, s.Why = true, e.Reason
		if e.Forward {
			s.Refused = e.Reason
			s.Stopping, s.Undoing, s.Outcome = nil, false, s.before
		}
	case Ended:
		s.Cause = e.Cause
		s.Outcome, s.Why, s.Released = e.Outcome, e.Reason, e.Outcome != Broken
		s.leaves = e.Leave
	default:
		return fmt.Errorf("an event of kind %q, which this Plimsoll does not know", e.Kind)
	}
	return nil
}

// tryUndosAgain forgets that undos failed, where a run was being taken back and has not ended by that.
func (s *State) tryUndosAgain() {
	if s.Outcome != Broken || s.Stopping == nil {
		return
	}
	for _, i := range s.Items {
		if i.Phase == Settled && i.Asks {
			i.Asks = false
		}
	}
}

// obey takes the order of a stint.
func (s *State) obey(o Order, e Event) error {
	switch o.Do {
	case "cancel":
		s.tryUndosAgain()
		s.halted()
		e.Leave = o.Leave
		s.Stopping, s.Undoing, s.Outcome, s.Stuck = &e, o.Undo, "", ""
	case "resume":
		clear(s.Healthy)
		if s.Outcome == Broken {
			s.tryUndosAgain()
			s.Outcome = ""
			for _, i := range s.Items {
				if i.Phase == Dead {
					i.reset()
				}
			}
		}
	case "rerun":
		at := slices.IndexFunc(s.Items, func(i *Item) bool { return i.Key == o.Step })
		if at < 0 {
			return fmt.Errorf("rerun of step %s, which there is not", o.Step)
		}
		s.Outcome, s.Stopping, s.Undoing = "", nil, false
		clear(s.Healthy)
		for n, i := range s.Items {
			if n == at || n > at && (o.Downstream || i.Phase == Dead) || i.Phase == Reverted {
				i.reset()
			}
		}
	}
	return nil
}

// Rerunnable refuses to do a step again on what was taken back before it.
func (s *State) Rerunnable(step string) error {
	for _, i := range s.Items {
		if i.Key == step {
			break
		}
		if i.Phase == Reverted {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("step %s, before %s, was taken back", i.Key, step),
				Advice: fmt.Sprintf("plimsoll runbook rerun RUN --step '%s' --downstream, or begin a new run", i.Key),
			}
		}
	}
	return nil
}

// reset makes a step new; what it did before stays in the journal, and it goes on counting its attempts. One that was done,
// or taken back, is a new intention, to be agreed to anew; one that failed or was cut off is the same still.
func (i *Item) reset() {
	old := *i
	*i = Item{
		Key: old.Key, Step: old.Step, Group: old.Group, Target: old.Target, Phase: Waiting, Attempt: old.Attempt, Found: old.Found, Acts: old.Acts, Begun: old.Begun,
		Cluster: old.Cluster, Did: old.Did, // for an undo before it acts again
	}
	if old.Phase != Settled && old.Phase != Reverted {
		i.Before, i.Intent, i.Token, i.Since, i.Open = old.Before, old.Intent, old.Token, old.Since, old.Open
		if i.Token != "" { // it was agreed to, and acted
			i.Approved = old.Approved
		}
	}
}

// expand makes the items of all steps whose targets are known, and keeps those there are.
func (s *State) expand() {
	old := map[string]*Item{}
	for _, i := range s.Items {
		old[i.Key] = i
	}
	s.Items = nil
	add := func(step *Step, group, target string) {
		key := Key(group, target, step.ID)
		i := old[key]
		if i == nil {
			i = &Item{Key: key, Step: step, Group: group, Target: target, Phase: Waiting}
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

// epoch is that of the lease of the cluster on which a step acts.
func (s *State) epoch(i *Item) int64 {
	if i.Cluster == "" {
		return s.Epochs[s.Header.Cluster]
	}
	return s.Epochs[i.Cluster]
}

// Item returns a step by its key, nil if there is none.
func (s *State) Item(key string) *Item {
	for _, i := range s.Items {
		if i.Key == key {
			return i
		}
	}
	return nil
}

func (i *Item) apply(e Event, entry durable.Entry) error {
	i.Took += e.Took
	switch e.Kind {
	case Valued:
		i.Inputs, i.Cluster, i.Phase = e.Inputs, e.Cluster, Checking
		if e.Skip {
			i.Phase = Skipped
		}
		if i.Inputs == nil {
			i.Inputs = map[string]any{}
		}
	case Checked:
		i.checked(e)
	case Asked:
		i.Phase, i.Question, i.Until, i.Caution = Asking, entry.Number, e.Until, e.Caution
	case Approved:
		i.Approved = append(i.Approved, cmp.Or(e.Signer, e.By))
		if len(i.Approved) >= i.approvals() {
			i.Phase, i.Until = Due, time.Time{}
			if i.Step.Uses == "" {
				i.settle()
			}
		}
	case Intended:
		i.Phase, i.Intent, i.Attempt, i.Token, i.Acts, i.Did = Acting, entry.Number, e.Attempt, e.Token, true, i.Inputs
		i.Begun = entry.Number
		if i.Since.IsZero() {
			i.Since = entry.At
		}
		if i.Before == nil && i.Finding != nil {
			i.Before = i.Finding.Observed
		}
		if i.Found == nil {
			i.Found = i.Before
		}
	case Acted:
		i.Intent, i.Output, i.Phase = 0, e.Output, Verifying
	case Verified:
		i.settle()
		if e.Output != nil {
			i.Output = e.Output
		}
	case Cut:
		i.Intent, i.Finding, i.Phase = 0, nil, Checking
	case Failed:
		i.Cause = e.Cause
		i.Intent, i.Error, i.Advice, i.Asks, i.Open, i.Phase, i.Until = 0, e.Error, e.Note, e.Asks, e.Open, Dead, time.Time{}
		i.Failures++
		if e.Nothing && i.Attempt <= 1 { // no attempt before it may have done something
			i.Acts = false
		}
		if !e.Final {
			i.Phase, i.Until = Resting, e.Until
		}
	case Undoing:
		i.Phase, i.Undo = Reverting, entry.Number
	case Undone:
		i.Phase, i.Undo, i.Acts, i.Intent, i.Open = Reverted, 0, false, 0, false
	case Stuck:
		i.Undo, i.Error, i.Asks, i.Lasts = 0, e.Error, true, e.Lasts
		i.Phase = Settled
	default:
		return fmt.Errorf("an event of kind %q, which this Plimsoll does not know", e.Kind)
	}
	return nil
}

// checked takes a check's finding. Unknown is a failure, which the interpreter writes next.
func (i *Item) checked(e Event) {
	i.Finding, i.Open = e.Finding, false
	switch {
	case e.Finding == nil || e.Finding.State == action.Unknown:
	case e.Finding.State == action.Satisfied:
		i.Phase, i.Intent = Verifying, 0
	case i.needsApproval(e.Caution):
		i.Phase, i.Caution = Asking, e.Caution
	default:
		i.Phase = Due
	}
}

func (i *Item) settle() {
	i.Phase, i.Intent, i.Error, i.Asks = Settled, 0, "", false
}

// needsApproval tells whether people must still agree before the step acts.
func (i *Item) needsApproval(caution string) bool {
	return (i.Step.Approval != nil || caution != "") && len(i.Approved) < i.approvals()
}

func (i *Item) approvals() int {
	if i.Step.Approval != nil {
		return i.Step.Approval.Count
	}
	return 1
}

// Over tells whether the step needs nothing more.
func (i *Item) Over() bool { return i.Phase == Settled || i.Phase == Skipped }

// Position is the step a run is at, for people: the first that is neither over nor waiting.
func (s *State) Position() string {
	var at []string
	for _, i := range s.Items {
		if !i.Over() && i.Phase != Waiting && i.Phase != Reverted {
			at = append(at, i.Key)
		}
	}
	return strings.Join(at, ", ")
}

// env is what a step's expressions see.
func (s *State) env(i *Item) map[string]any {
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
			"name": s.Header.Cluster, "environment": s.Header.Environment, "product": s.Header.Product, "version": s.Header.Version,
			"primary": s.Header.Primary,
		},
	}
	if i != nil {
		env["target"] = i.Target
	}
	return env
}
