package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/runbook/journal"
)

// slowBook has an act that goes on for as long as a table is empty.
const slowBook = `
runbook: own/slow
steps:
  - id: before
    uses: sql.execute
    with: {statements: ["CREATE DATABASE IF NOT EXISTS v", "CREATE TABLE IF NOT EXISTS v.go (a INT)"], repeatable: true, want: "1",
      check: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'v' AND table_name = 'go'"}
  - id: slow
    uses: sql.execute
    retry: {max: 3, backoff: 100ms}
    with: {statements: ["DO SLEEP(IF((SELECT COUNT(*) FROM v.go) = 0, 3600, 0))", "CREATE TABLE v.done (a INT)"], want: "1",
      check: "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'v' AND table_name = 'done'"}
`

// TestRealDatabaseVanishes kills the server in the middle of an act that cannot simply be repeated.
func TestRealDatabaseVanishes(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts a real server")
	}
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	if err := os.WriteFile("slow.yaml", []byte(slowBook), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := typed(t, "lab", "up", "mariadb", "--name", "vanish"); code != 0 {
		t.Fatal(said)
	}
	t.Cleanup(func() { typed(t, "lab", "down", "vanish") })
	type ending struct {
		said string
		code int
	}
	ended := make(chan ending, 1)
	go func() {
		_, said, code := typed(t, "runbook", "run", "slow.yaml", "--cluster", "vanish", "--yes")
		ended <- ending{said, code}
	}()
	run := inPhase(t, "slow", journal.StepActing)
	var clusters []lab.Status
	out, _, _ := typed(t, "lab", "list", "--json")
	if err := json.Unmarshal([]byte(out), &clusters); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(clusters[0].Nodes[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	end := <-ended
	if end.code != console.ExitTrouble || strings.Count(end.said, "plimsoll: ") != 1 || !strings.Contains(end.said, "failed at step slow") ||
		!strings.Contains(end.said, "cannot tell how far it got") || !strings.Contains(end.said, "runbook resume "+run) {
		t.Errorf("exit code %d:\n%s", end.code, end.said)
	}
	s := statusByName(t, run)
	if s.Status != string(journal.RunFailed) || s.Steps[0].Phase != journal.StepDone || !s.Steps[1].Asks || s.Steps[1].Attempt != 1 {
		t.Errorf("%+v", s)
	}
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	c, err := lab.Open(t.Context(), "vanish", deps)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	on, err := home.OpenCluster(t.Context(), "vanish", &inventory.Inventory{}, deps)
	if err != nil {
		t.Fatal(err)
	}
	if err := on.Execute(t.Context(), "", []string{"INSERT INTO v.go VALUES (1)"}, func(int) {}); err != nil {
		t.Error(err)
	}
	if err := on.Close(); err != nil {
		t.Fatal(err)
	}
	if _, said, code := typed(t, "runbook", "resume", run, "--reason", "the server is back", "--yes"); code != 0 {
		t.Errorf("resume: %d %s", code, said)
	}
	if s := statusByName(t, run); s.Status != string(journal.RunDone) || s.Steps[1].Attempt != 2 {
		t.Errorf("%+v", s)
	}
}

// inPhase waits until a step of the only run is there.
func inPhase(t *testing.T, step string, phase journal.Phase) (run string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(3 * time.Minute); ; {
		var runs []runbookcmd.Status
		if out, _, code := typed(t, "runbook", "status", "--json"); code == 0 && json.Unmarshal([]byte(out), &runs) == nil && len(runs) == 1 {
			for _, s := range statusByName(t, runs[0].Run).Steps {
				if s.Step == step && s.Phase == phase {
					return runs[0].Run
				}
			}
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("step %s never came to %s", step, phase)
		}
	}
}

func statusByName(t *testing.T, run string) (s runbookcmd.Status) {
	t.Helper()
	out, said, code := typed(t, "runbook", "status", run, "--json")
	if code != 0 {
		t.Fatalf("status: %d %s", code, said)
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
