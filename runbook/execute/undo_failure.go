package execute

import (
	"slices"
	"strings"
	"time"

	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// undoesFailure tells whether the runbook has failures undone, and nothing forbids it by itself: what a person is asked about, and
// what may still be under way, is nothing to be touched.
func (r *runner) undoesFailure() bool {
	if r.state.Book.OnFailure != runbook.FailureUndoes || r.state.Stopping != nil {
		return false
	}
	failed := r.broken() != nil
	if _, stop := r.guard.state(time.Now()); stop {
		failed = true
	}
	return failed && !slices.ContainsFunc(r.state.Items, func(i *journal.Step) bool { return i.Asks || i.Open && !r.state.Looks(i) })
}

// undoFailure begins to take a failed run back, if its runbook says so and all that has acted can be taken back; nil: it stays where
// it is. An act that failed and left things as they were is none.
func (r *runner) undoFailure(why string) *journal.Event {
	if !r.undoesFailure() {
		return nil
	}
	if i, _ := r.assessed.Irrevocable(r.state); i != nil {
		return nil
	}
	return &journal.Event{Kind: journal.Stopping, Undo: true, Error: why}
}

// undoHalfway ends a taking back at a step that stays. The run has failed, and keeps its cluster: the undo can be tried again.
func undoHalfway(r *runner, i *journal.Step) *journal.Event {
	stays := "step " + i.Key + " could not be undone, so the steps before it were not undone either: " + i.Error
	if why := r.state.FailureUndone(); why != "" {
		stays = why + "; " + stays
	}
	if r.state.Before.Over() { // it was at its end, and nothing is left to be finished
		return &journal.Event{Kind: journal.Ended, Outcome: journal.RunCancelled, Reason: stays}
	}
	return &journal.Event{Kind: journal.Ended, Outcome: journal.RunFailed, Reason: stays}
}

// leave ends a run whose cluster is given back as it is.
func (r *runner) leave(stop *journal.Event) *journal.Event {
	e := &journal.Event{Kind: journal.Ended, Outcome: journal.RunCancelled, Reason: stop.Reason, By: stop.By}
	if stop.Leave != "" {
		if stands := r.assessed.Effects(r.state); len(stands) > 0 {
			e.Leave = stop.Leave
			e.Reason = "left as it is: " + stop.Leave + "; what stays done: " + strings.Join(stands, ", ")
		}
	}
	return e
}
