package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A run whose process died is gone on with by the next command, which does not end in the middle of it, and says how it stands.
func TestACommandWaitsForTheRunThatGoesOnBesideItsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a process")
	}
	stateDirWith(t, map[string]string{"slow.yaml": `
runbook: own/slow
steps:
  - {id: a, uses: command, with: {run: "touch begun; while ! test -e on; do sleep 0.1; done; sleep 3; touch a", check: "test -e a", repeatable: true}}
  - {id: b, uses: command, with: {run: "touch b", check: "test -e b"}}
`, "quick.yaml": `
runbook: own/quick
steps:
  - {id: q, uses: command, with: {run: "touch on", check: "test -e on"}}
`, "plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
  orders2: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`})
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	dies := exec.CommandContext(t.Context(), program, "runbook", "run", "slow.yaml", "--cluster", "orders", "--yes")
	dies.Stdout, dies.Stderr = io.Discard, io.Discard
	if err := dies.Start(); err != nil {
		t.Fatal(err)
	}
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for _, err := os.Stat("begun"); err != nil; _, err = os.Stat("begun") {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not begin in a minute")
		}
	}
	_ = dies.Process.Kill()
	_ = dies.Wait() // it was killed
	says(t, 0, "stopped at 0 %, no process executes it", "runbook", "status")
	dead := runOn(t, "orders", "stopped")
	says(t, 0, "no process executes it; plimsoll runbook resume "+dead+" continues it, plimsoll runbook cancel "+dead+" ends it, or says why it cannot", "runbook", "status", dead)
	if out, _, code := typed(t, "runbook", "status", dead, "--json"); code != 0 || !strings.Contains(out, `"abandoned": true`) || !strings.Contains(out, `"status": "stopped"`) || strings.Contains(out, `"running"`) {
		t.Errorf("code %d; as JSON a run that no process executes is %s", code, out)
	}
	_, said, code := typed(t, "runbook", "run", "quick.yaml", "--cluster", "orders2", "--yes")
	if _, err := os.Stat("b"); code != 0 || err != nil || !strings.Contains(said, "(Ctrl-C interrupts it)") || !strings.Contains(said, "which was resumed: done") {
		t.Errorf("code %d, its last step: %v; said: %s", code, err, said)
	}
}
