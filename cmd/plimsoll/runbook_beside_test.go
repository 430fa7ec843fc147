package main

import (
	"os"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/loadcmd"
	"plimsoll/runbook/journal"
)

// TestRealLabIsUsedBesideARun plans on, and reaches for a load, a lab cluster that a run has in hand. Taking it down is refused.
func TestRealLabIsUsedBesideARun(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts a real server")
	}
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	if err := os.WriteFile("asks.yaml", []byte(askingBook), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := typed(t, "lab", "up", "mariadb", "--name", "beside"); code != 0 {
		t.Fatal(said)
	}
	t.Cleanup(func() { typed(t, "lab", "down", "beside") })
	ended := make(chan int, 1)
	go func() {
		_, _, code := typed(t, "runbook", "run", "asks.yaml", "--cluster", "beside", "--yes")
		ended <- code
	}()
	run := inPhase(t, "go", journal.StepAsking)
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"runbook plan mysql/set-variable --cluster lab:beside -i name=sync_binlog -i value=100", 0, "1 to do"},
		{"runbook run mysql/set-variable --cluster lab:beside -i name=sync_binlog -i value=100 --yes", console.ExitTrouble, "cluster beside is locked by run " + run},
		{"runbook run mysql/set-variable --cluster beside -i name=sync_binlog -i value=100 --yes", console.ExitTrouble, "hint: plimsoll runbook status " + run + " shows how far it is: wait until it ends"},
		{"lab down beside", console.ExitTrouble, "is in use"},
	} {
		out, said, code := typed(t, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(out+said, c.want) {
			t.Errorf("%s: exit code %d, no %q in\n%s%s", c.line, code, c.want, out, said)
		}
	}
	if target, environment, err := loadcmd.ClusterTarget(t.Context(), "lab:beside", ""); err != nil || environment != "lab" || target.Namespace != "plimsoll" {
		t.Errorf("what a load is put on: %+v, %q, %v", target.Addresses, environment, err)
	}
	if _, said, code := typed(t, "runbook", "approve", run, "--yes"); code != 0 {
		t.Errorf("approve: %d %s", code, said)
	}
	if code := <-ended; code != 0 {
		t.Errorf("the run ended with %d", code)
	}
}
