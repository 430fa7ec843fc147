package web

import (
	"testing"

	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// Where a run would be refused, the page says what opens the gate.
func TestThePlanOfAClosedGateSaysHowToRehearse(t *testing.T) {
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop", Plan: journal.Plan{Hash: "a1"}}, Gate: plan.GateState{Needed: 3}}
	said := []fact{{"value", "500"}}
	if got, want := planView("mysql/set-variable", p, said).Command, "plimsoll runbook rehearse mysql/set-variable --cluster shop -i value=500"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.Gate = plan.GateState{}
	if got, want := planView("mysql/set-variable", p, said).Command, "plimsoll runbook run mysql/set-variable --cluster shop -i value=500 --plan a1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
