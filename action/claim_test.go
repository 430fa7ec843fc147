package action

import (
	"strings"
	"testing"
	"time"
)

// Where an engine does not keep for how long a claim has run out, no such time is stated.
func TestAnExpiredClaimSaysForHowLongOnlyWhereThatIsKnown(t *testing.T) {
	known := &ClaimedError{Cluster: "orders", Run: "r1", Holder: "ann@laptop", Expired: true, Silent: 90 * time.Second}
	if text := known.Error(); !strings.HasSuffix(text, ", which has not reported for 1m30s") {
		t.Error(text)
	}
	unknown := &ClaimedError{Cluster: "ring", Run: "r1", Holder: "ann@laptop", Expired: true}
	if text := unknown.Error(); !strings.HasSuffix(text, ", which does not report any more") {
		t.Error(text)
	}
}
