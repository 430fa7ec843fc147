package lock

import (
	"context"
	"testing"

	"plimsoll/action"
)

// ownClaim remembers with which claim it was cleared.
type ownClaim struct {
	ClusterLock
	cleared action.Claim
}

func (o *ownClaim) Clear(_ context.Context, c action.Claim) error {
	o.cleared = c
	return nil
}

// A run that took its cluster past the claim of an ended run says so when it gives it back, so that the cluster removes that one too (claimPastAnEndedRun).
func TestTheClaimThatWasPassedOverIsNamedAtTheEnd(t *testing.T) {
	inner := &ownClaim{}
	if err := (&tidied{ClusterLock: inner, past: "ended"}).Clear(t.Context(), action.Claim{Run: "next"}); err != nil || inner.cleared.Run != "next" || inner.cleared.Past != "ended" {
		t.Errorf("cleared with %+v, %v", inner.cleared, err)
	}
}
