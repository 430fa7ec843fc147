package action

import (
	"strings"
	"testing"
	"time"
)

// Where an engine does not keep for how long a claim has run out, no such time is stated.
func TestAnExpiredClaimSaysForHowLongOnlyWhereThatIsKnown(t *testing.T) {
	known := &ClaimedError{Cluster: "orders", Run: "r1", Holder: "ann@laptop", Expired: true, Silent: 90 * time.Second}
	if text := known.Error(); !strings.HasSuffix(text, ", whose claim expired 1m30s ago") {
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

// A run of a trial is known to no command about runs: the way out is the trial's own.
func TestTheClaimOfATrialIsToldFromARuns(t *testing.T) {
	e := &ClaimedError{Cluster: "orders", Run: "slow-3mdcq4", Holder: TrialHolder("slow"), Expired: true}
	if hint := e.Hint(); strings.Contains(hint, "slow-3mdcq4") || strings.Contains(hint, "plimsoll runbook") || !strings.Contains(hint, "plimsoll trial run FILE --break-lock REASON") {
		t.Errorf("of one whose process has ended: %q", hint)
	}
	e.Again = "plimsoll trial run slow.yaml"
	if hint := e.Hint(); !strings.Contains(hint, "plimsoll trial run slow.yaml --break-lock REASON") {
		t.Errorf("with the file at hand: %q", hint)
	}
	e.Expired, e.Died = false, 12
	if text, hint := e.Error(), e.Hint(); !strings.HasSuffix(text, ", whose process (12) has died on this machine") || strings.Contains(hint, "wait until") ||
		!strings.Contains(hint, "its claim expires within a minute, then take over its lock: plimsoll trial run slow.yaml --break-lock REASON") {
		t.Errorf("of one whose process died here: %q %q", text, hint)
	}
	if e.Died = 0; e.Hint() != "wait until trial slow ends, or interrupt it (Ctrl-C) where it runs" {
		t.Errorf("of one that runs: %q", e.Hint())
	}
	e.Holder = "trial (process 12 on laptop)" // a person may be called so
	if hint := e.Hint(); !strings.Contains(hint, "plimsoll runbook cancel slow-3mdcq4") {
		t.Errorf("of a person called trial: %q", hint)
	}
}
