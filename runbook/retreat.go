package runbook

import (
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// OnFailure is what becomes of a run of which a step failed for good.
type OnFailure string

// What becomes of it.
const (
	FailureStops  OnFailure = "stop"
	FailureUndoes OnFailure = "undo"
)

// UnmarshalDocument reads stop or undo.
func (f *OnFailure) UnmarshalDocument(n *document.Node) error {
	*f = OnFailure(n.Text)
	return oneOf(n, "answer to a failure", string(FailureStops), string(FailureUndoes))
}

// retreating tells whether the runbook has failures undone, and nothing forbids it by itself: what a person is asked about, and
// what may still be under way, is nothing to be touched.
func (r *runner) retreating() bool {
	if r.state.Book.OnFailure != FailureUndoes || r.state.Stopping != nil {
		return false
	}
	failed := r.broken() != nil
	if _, stop := r.guard.state(time.Now()); stop {
		failed = true
	}
	return failed && !slices.ContainsFunc(r.state.Items, func(i *Item) bool { return i.Asks || i.Open && !r.state.looks(i) })
}

// retreat begins to take a failed run back, if its runbook says so and all that has acted can be taken back; nil: it stays where
// it is. An act that failed and left things as they were is none.
func (r *runner) retreat(why string) *Event {
	if !r.retreating() {
		return nil
	}
	if i, _ := r.state.irrevocable(r.assessed); i != nil {
		return nil
	}
	return &Event{Kind: Stopping, Undo: true, Error: why}
}

// halfway ends a taking back at a step that stays. The run has failed, and keeps its cluster: the undo can be tried again.
func (r *runner) halfway(i *Item) *Event {
	stays := "step " + i.Key + " could not be taken back, so the steps before it were not undone: " + i.Error
	if why := r.state.Retreated(); why != "" {
		stays = why + "; " + stays
	}
	if r.state.before.over() { // it was at its end, and nothing is left to be finished
		return &Event{Kind: Ended, Outcome: Cancelled, Reason: stays}
	}
	return &Event{Kind: Ended, Outcome: Broken, Reason: stays}
}

// leave ends a run whose cluster is given back as it is.
func (r *runner) leave(stop *Event) *Event {
	e := &Event{Kind: Ended, Outcome: Cancelled, Reason: stop.Reason, By: stop.By}
	if stop.Leave != "" {
		if stands := r.state.effects(r.assessed); len(stands) > 0 {
			e.Leave = stop.Leave
			e.Reason = "left as it is: " + stop.Leave + "; what stays done: " + strings.Join(stands, ", ")
		}
	}
	return e
}

// Stands lists, of a run that was to be taken back and ended before it was, the step that stays, and all that stand with it: what
// acted, or may have, in order.
func (s *State) Stands() (stays *Item, all []string) {
	if s.Outcome != Cancelled && s.Outcome != Broken || !s.Undoing {
		return nil, nil
	}
	for _, i := range s.Items {
		if !i.Acts || s.Book.Looks(i.Key) {
			continue
		}
		all = append(all, i.Key)
		if i.Phase == Settled && i.Asks {
			stays = i
		}
	}
	return stays, all
}

// reversible tells whether there is an undo of what a step did.
func (s *State) reversible(i *Item) bool {
	task, err := s.Book.bind(i.Step.Uses, i.Did)
	if err != nil {
		return false
	}
	_, own := task.(action.Undoer)
	effect := task.Traits().Effect
	stays := effect == action.Irreversible || effect == action.Lasting && i.Phase == Settled
	return effect == action.None || i.Step.Undo != nil || own && !stays
}

// Retreated says why the run was taken back by itself; empty: it was not.
func (s *State) Retreated() string {
	if s.Stopping == nil {
		return ""
	}
	return s.Stopping.Error
}
