package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/durable/durabletest"
	"plimsoll/runbook/journal"
)

// TestARunOfAnotherHostIsAnsweredFromHereAndNotTaken has two homes over one Postgres: a run waits in one, and is seen from the other.
func TestARunOfAnotherHostIsAnsweredFromHereAndNotTaken(t *testing.T) {
	t.Setenv("RUNS", durabletest.Postgres(t))
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"asks.yaml": askingBook, "plimsoll.yaml": `state: {postgres: {env: RUNS}}
clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
  orders2: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, there := t.TempDir(), t.TempDir()
	begin := func(cluster string) (*talker, string) {
		t.Helper()
		t.Setenv("PLIMSOLL_HOME", there)
		w := &talker{ended: make(chan int, 1)}
		go func() {
			w.ended <- typedAt(t, console.Streams{In: strings.NewReader(""), Out: w, Err: w}, "runbook", "run", "asks.yaml", "--cluster", cluster, "--yes")
		}()
		run := runOn(t, cluster, "asking")
		t.Setenv("PLIMSOLL_HOME", here)
		return w, run
	}
	executes, run := begin("orders")
	out, said, code := typed(t, "runbook", "status", run)
	if code != 0 || !strings.Contains(out, "\nexecuted by ") || !strings.Contains(out, "since ") || strings.Contains(out, "nobody") {
		t.Errorf("status: %d %s%s", code, out, said)
	}
	var s runbookcmd.Status
	if out, _, _ = typed(t, "runbook", "status", run, "--json"); json.Unmarshal([]byte(out), &s) != nil || s.Elsewhere == nil || s.Elsewhere.By == "" {
		t.Errorf("status --json: %s", out)
	}
	for _, args := range []string{"resume " + run, "rerun --step go --reason again " + run} {
		_, said, code := typed(t, strings.Fields("runbook "+args)...)
		if code != console.ExitTrouble || !strings.Contains(said, "plimsoll: run "+run+" is executed by ") || !strings.Contains(said, "hint: plimsoll runbook status "+run+" shows it") {
			t.Errorf("%s: %d %s", args, code, said)
		}
	}
	if _, said, code := typed(t, "runbook", "approve", run, "--yes"); code != 0 || !strings.Contains(said, "\nexecuted by ") || strings.Contains(said, "nobody") {
		t.Errorf("approve: %d %s", code, said)
	}
	if code := <-executes.ended; code != 0 || !strings.Contains(executes.said(), "run "+run+": done") {
		t.Errorf("it ended with %d: %s", code, executes.said())
	}
	executes, run = begin("orders2")
	if _, said, code := typed(t, "runbook", "cancel", run, "--undo", "--yes"); code != 0 || !strings.Contains(said, "executed by ") || !strings.Contains(said, "the process that executes the run has received the cancellation") {
		t.Errorf("cancel: %d %s", code, said)
	}
	if code := <-executes.ended; code != console.ExitTrouble || !strings.Contains(executes.said(), "run "+run+": "+string(journal.RunCancelled)) || !strings.Contains(executes.said(), journal.NothingChanged) {
		t.Errorf("it ended with %d: %s", code, executes.said())
	}
}
