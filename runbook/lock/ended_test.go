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

// A run that took its cluster past the claim of an ended run removes that one with its own: without a primary it could not write its own over it.
func TestTheClaimThatWasPassedOverIsRemovedToo(t *testing.T) {
	inner := &ownClaim{}
	if err := (&tidied{ClusterLock: inner, past: "ended"}).Clear(t.Context(), action.Claim{Run: "next"}); err != nil || inner.cleared.Run != "next" || inner.cleared.Past != "ended" {
		t.Errorf("cleared with %+v, %v", inner.cleared, err)
	}
}
