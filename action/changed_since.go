package action

import (
	"fmt"

	"plimsoll/hint"
)

// ChangedSince is the refusal of an undo to put back what is neither what the run left nor what was there before.
func ChangedSince(what, now, left, before string) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s is %s now: this run made it %s, and it was %s before. Somebody changed it since, or a restart did", what, now, left, before),
		Advice: fmt.Sprintf("to undo the steps before it too, make it %s again yourself, then undo again: plimsoll runbook cancel RUN --undo; to keep everything as it is: plimsoll runbook cancel RUN --leave REASON", before),
	}
}
