package runbookcmd

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// What was rehearsed is shown with its inputs as one types them, also large whole numbers, which JSON reads as others.
func TestAGateShowsInputsAsTheyAreTyped(t *testing.T) {
	var out bytes.Buffer
	was := journal.Rehearsal{Trial: "results/rehearse", Cluster: "lab", Product: "MariaDB", Minor: "11.4", Topology: "pair", Inputs: action.Facts{"name": "max_connections", "value": 2000000.0}}
	printGate(&out, &execute.Prepared{Gate: plan.GateState{Needed: 1, Passed: []journal.Rehearsal{was}}})
	if want := "MariaDB 11.4 (pair) lab with name=max_connections, value=2000000  results/rehearse\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q, want %q at its end", out.String(), want)
	}
}
