package runbook

import (
	"plimsoll/internal/document"
	"plimsoll/runbook/action"
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

// retreat begins to take a failed run back, if its runbook says so and all that has acted can be taken back; nil: it stays where
// it is. What a person is asked about, and what may still be under way, is nothing to be touched by itself.
func (r *runner) retreat(why string) *Event {
	if r.state.Book.OnFailure != FailureUndoes {
		return nil
	}
	for _, i := range r.state.Items {
		if i.Asks || i.Open || i.Acts && !r.reversible(i) {
			return nil
		}
	}
	return &Event{Kind: Stopping, Undo: true, Error: why}
}

// halfway ends a taking back at a step that stays. What a person cancelled is cancelled; a failure that was to be undone is one still,
// and keeps its cluster.
func (r *runner) halfway(i *Item) *Event {
	stays := "step " + i.Key + " could not be taken back, so those before it stand: " + i.Error
	if why := r.state.Retreated(); why != "" {
		return &Event{Kind: Ended, Outcome: Broken, Reason: why + "; " + stays}
	}
	return &Event{Kind: Ended, Outcome: Cancelled, Reason: stays}
}

// Stands lists, of a run that was to be taken back and ended before it was, the step that stays, and all that stand with it: what
// acted, or may have, in order.
func (s *State) Stands() (stays *Item, all []string) {
	if s.Outcome != Cancelled || !s.Undoing {
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
func (r *runner) reversible(i *Item) bool {
	task, err := r.state.Book.bind(i.Step.Uses, i.Did)
	if err != nil {
		return false
	}
	_, own := task.(action.Undoer)
	effect := task.Nature().Effect
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
