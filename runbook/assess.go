package runbook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"plimsoll/action"
)

// standing is how things stand of a step whose act was intended, and of which the journal does not know what came of it.
type standing string

const (
	untouched standing = "untouched" // it is as it was before: the act was never begun, or came to nothing
	complete  standing = "complete"  // it is as it was meant
	halfDone  standing = "half done"
)

// assessment is what a look at a step that was begun has shown.
type assessment struct {
	is  standing
	why string // of half done: what was seen
	err error  // it cannot be told
}

// unsettled lists the steps that were begun and not finished, and that nobody has looked at since: what came of them is not known.
// Those that are taken back anyhow are not looked at before.
func (r *runner) unsettled() []*Item {
	undoes := r.state.Stopping == nil || r.state.Undoing
	var all []*Item
	for _, i := range r.state.Items {
		begun := i.Acts && i.Phase != Settled && i.Phase != Reverting && !r.state.looks(i)
		if begun && r.assessed[i.Key] == nil && !(undoes && r.state.reversible(i)) {
			all = append(all, i)
		}
	}
	return all
}

// beginAssess waits for what the act of a step left under way, then looks at what came of it. It changes nothing.
func (r *runner) beginAssess(i *Item) {
	key, uses, on, inputs, call := i.Key, i.Step.Uses, i.Cluster, i.Did, r.call(i)
	before := i.Before
	r.begin(key, looking, i.Step.Timeout, func(ctx context.Context, p *progress) (*Event, error) {
		call.Progress = p.tell
		p.tell(-1, "looking what came of it")
		is, err := r.assess(ctx, uses, on, inputs, before, call)
		if err != nil {
			is.err = err
		}
		return nil, &assessed{is}
	})
	r.jobs[key].assesses = true
}

// assessed brings an assessment back to the loop.
type assessed struct{ assessment }

func (a *assessed) Error() string { return "assessed: " + string(a.is) }

func (r *runner) assess(ctx context.Context, uses, on string, inputs map[string]any, before action.Facts, call action.Call) (a assessment, err error) {
	task, err := r.state.Book.bind(uses, inputs)
	if err != nil {
		return a, err
	}
	reading, err := r.reading.Cluster(ctx, on)
	if err != nil {
		return a, err
	}
	if left, ok := task.(action.InFlightWaiter); ok {
		if err := left.AwaitInFlight(ctx, reading, call); err != nil {
			return a, err
		}
	}
	found, err := task.Check(ctx, reading)
	switch {
	case err != nil:
		return a, err
	case found.State == action.Satisfied:
		a.is = complete
	case found.State == action.Unknown:
		return a, fmt.Errorf("it cannot be told what came of it: %s", found.Reason)
	case len(before) > 0 && same(before, found.Observed):
		a.is = untouched
	case len(before) == 0 || len(found.Observed) == 0:
		a.is, a.why = halfDone, "it may have acted, and has nothing to tell it by"
	default:
		a.is, a.why = halfDone, fmt.Sprintf("seen %v, before %v, intended %v", found.Observed, before, found.Intended)
	}
	return a, nil
}

// same compares facts, of which one may have been through a journal.
func same(a, b action.Facts) bool {
	plain := func(f action.Facts) (m map[string]any) {
		data, err := json.Marshal(f)
		if err != nil || json.Unmarshal(data, &m) != nil {
			return maps.Clone(f)
		}
		return m
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// looks tells whether a step, with the inputs that it has, changes nothing.
func (s *State) looks(i *Item) bool {
	inputs := i.Did
	if inputs == nil {
		inputs = i.Inputs
	}
	task, err := s.Book.bind(i.Step.Uses, inputs)
	return err == nil && task.Traits().Effect == action.None
}

// stands says of a step that has an effect how it stands; empty: it has none, or none that is left.
func (s *State) stands(i *Item, seen map[string]*assessment) string {
	a := seen[i.Key]
	switch {
	case !i.Acts || s.looks(i), a != nil && a.err == nil && a.is == untouched:
		return ""
	case i.Phase == Settled, a != nil && a.err == nil && a.is == complete:
		return "is done"
	case a == nil:
		return "was begun"
	case a.err != nil:
		return "was begun, and it cannot be told what came of it: " + oneLine(a.err)
	}
	return "is half done: " + a.why
}

// irrevocable is the first step that nothing takes back and that has acted, or may have, and how it stands; nil: all that was done
// can be taken back.
func (s *State) irrevocable(seen map[string]*assessment) (*Item, string) {
	for _, i := range s.Items {
		if how := s.stands(i, seen); how != "" && !s.reversible(i) {
			return i, how
		}
	}
	return nil, ""
}

// effects lists the steps that have changed something that stands.
func (s *State) effects(seen map[string]*assessment) []string {
	var all []string
	for _, i := range s.Items {
		switch how := s.stands(i, seen); how {
		case "":
		case "is done", "was begun":
			all = append(all, i.Key)
		default:
			all = append(all, i.Key+" ("+how+")")
		}
	}
	return all
}

// refusal says why a cancellation is not taken; empty: it is. A cluster is given back as it is only when a person says so, or when
// others have it already.
func (r *runner) refusal() string {
	s, stop, run := r.state, r.state.Stopping, r.journal.Run()
	if stop.Leave != "" || stop.Error != "" || r.gone || s.before.over() {
		return ""
	}
	stands := strings.Join(s.effects(r.assessed), ", ")
	if i, how := s.irrevocable(r.assessed); i != nil {
		return fmt.Sprintf("step %s %s, and cannot be taken back; what stays done: %s. The safe way is forward: plimsoll runbook resume %s finishes it; "+
			"plimsoll runbook cancel %s --leave REASON gives the cluster back as it is", i.Key, how, stands, run, run)
	}
	if !s.Undoing && stands != "" {
		return fmt.Sprintf("what stays done: %s. plimsoll runbook cancel %s --undo takes it back, plimsoll runbook resume %s continues it, "+
			"plimsoll runbook cancel %s --leave REASON gives the cluster back as it is", stands, run, run, run)
	}
	return ""
}

// TooLate says why a run that goes on is not cancelled at a person's word: it has gone, or is going, beyond what can be taken back, or
// it would leave the cluster as it is and nobody said that it should. Empty: it is.
func (s *State) TooLate(w Word) string {
	if w.Leave != "" || s.Book == nil {
		return ""
	}
	if i, how := s.irrevocable(nil); i != nil {
		return fmt.Sprintf("step %s %s, and cannot be taken back: the safe way is forward, and the run goes on; --leave REASON gives the cluster back as it is", i.Key, how)
	}
	if stands := s.effects(nil); !w.Undo && len(stands) > 0 {
		return fmt.Sprintf("what stays done: %s; say --undo to take it back, or --leave REASON to give the cluster back as it is", strings.Join(stands, ", "))
	}
	return ""
}
