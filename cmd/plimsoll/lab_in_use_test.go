package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"plimsoll/lab"
)

// A run of a cluster of the inventory whose servers are a lab's keeps that lab, until it is taken away by force.
func TestALabOnWhichARunWorksIsKept(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts a real server")
	}
	stateDirWith(t, map[string]string{"asks.yaml": `
runbook: own/asks
steps:
  - {id: sure, approval: {note: "Is it free?"}}
  - {id: mark, uses: command, with: {run: "touch marked", check: "test -e marked"}}
`})
	t.Cleanup(func() { typed(t, "lab", "down", "used", "--force") })
	if out, said, code := typed(t, "lab", "up", "mariadb", "--name", "used"); code != 0 {
		t.Fatalf("%d %s%s", code, out, said)
	}
	out, _, _ := typed(t, "lab", "list", "--json")
	var labs []lab.Status
	if err := json.Unmarshal([]byte(out), &labs); err != nil || len(labs) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	says(t, 0, "", "lab", "shell", "used", "--execute", "GRANT ALL ON *.* TO app@'%' IDENTIFIED BY 'secret'")
	t.Setenv("APP_PASSWORD", "secret")
	inventory := fmt.Sprintf("clusters:\n  shop: {engine: mysql, environment: staging, user: app, password: {env: APP_PASSWORD}, nodes: [{name: a, address: %q}]}\n", labs[0].Nodes[0].Address)
	if err := os.WriteFile("plimsoll.yaml", []byte(inventory), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	waits := exec.CommandContext(t.Context(), program, "runbook", "run", "asks.yaml", "--cluster", "shop", "--yes")
	if err := waits.Start(); err != nil {
		t.Fatal(err)
	}
	run := runOn(t, "shop", "asking")
	says(t, 1, "cluster used is in use: run "+run+" works on its servers, as cluster shop (waiting for approval)", "lab", "down", "used")
	says(t, 1, "end the run first: plimsoll runbook cancel "+run+"; or remove the cluster all the same, which interrupts the run: plimsoll lab down used --force", "lab", "down", "--all")
	if err := waits.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = waits.Wait() // it was interrupted
	says(t, 0, "Run "+run+", which no process executes, cannot continue without cluster used", "lab", "down", "used")
}
