package action

import (
	"strings"
	"testing"
	"time"
)

// Where an engine does not keep for how long a claim has run out, no such time is stated.
func TestAnExpiredClaimSaysForHowLongOnlyWhereThatIsKnown(t *testing.T) {
	known := &ClaimedError{Cluster: "orders", Run: "r1", Holder: "ann@laptop", Expired: true, Silent: 90 * time.Second}
	if text := known.Error(); !strings.HasSuffix(text, ", whose claim ran out 1m30s ago") {
		t.Error(text)
	}
	unknown := &ClaimedError{Cluster: "ring", Run: "r1", Holder: "ann@laptop", Expired: true}
	if text := unknown.Error(); !strings.HasSuffix(text, ", which does not report any more") {
		t.Error(text)
	}
}

// A claim may tell no run's name: then no command names one, least of all the run that was refused.
func TestAClaimWithoutARunNamesNone(t *testing.T) {
	for _, e := range []*ClaimedError{{Cluster: "ring", Holder: "ann@laptop", Expired: true}, {Cluster: "ring", Holder: "ann@laptop"}} {
		if hint := e.Hint(); strings.Contains(hint, "RUN") || strings.Contains(hint, "resume") || !strings.Contains(hint, "plimsoll runbook status shows") {
			t.Error(hint)
		}
	}
	if hint := (&ClaimedError{Cluster: "orders", Run: "r1", Holder: "ann@laptop", Expired: true}).Hint(); !strings.Contains(hint, "plimsoll runbook resume r1") {
		t.Error(hint)
	}
}
