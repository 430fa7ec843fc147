package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/runbook/journal"
)

// TestASecondPlimsollFollowsOrWaitsForItsTurn has one that executes, one that follows the same run, and one with a run of its own.
func TestASecondPlimsollFollowsOrWaitsForItsTurn(t *testing.T) {
	stateDirWith(t, map[string]string{"asks.yaml": askingBook, "plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
  orders2: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`})
	begin := func(args ...string) *talker {
		w := &talker{ended: make(chan int, 1)}
		go func() { w.ended <- typedAt(t, console.Streams{In: strings.NewReader(""), Out: w, Err: w}, args...) }()
		return w
	}
	executes := begin("runbook", "run", "asks.yaml", "--cluster", "orders", "--yes")
	first := inPhase(t, "go", journal.StepAsking)
	follows := begin("runbook", "resume", first)
	waits := begin("runbook", "run", "asks.yaml", "--cluster", "orders2", "--yes")
	second := runOn(t, "orders2", "waiting")
	follows.until(t, "another plimsoll process, which is executing a run here")
	waits.until(t, "another plimsoll process, which is executing a run here")
	for _, end := range []struct {
		run string
		of  []*talker
	}{{first, []*talker{executes, follows}}, {second, []*talker{waits}}} {
		if end.run == second {
			runOn(t, "orders2", "asking")
		}
		if _, said, code := typed(t, "runbook", "approve", end.run, "--yes"); code != 0 {
			t.Fatalf("approve: %d %s", code, said)
		}
		for _, w := range end.of {
			if code := <-w.ended; code != 0 || !strings.Contains(w.said(), "approved by") || !strings.Contains(w.said(), "run "+end.run+": done") {
				t.Errorf("one ended with %d: %s", code, w.said())
			}
		}
	}
}

// talker is where a command writes that goes on, and how it ended.
type talker struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ended chan int
}

func (w *talker) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *talker) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// until waits until it has said something.
func (w *talker) until(t *testing.T, text string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !strings.Contains(w.said(), text); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("it never said %q: %s", text, w.said())
		}
	}
}

// runOn waits until the run on a cluster has a status, and returns its name.
func runOn(t *testing.T, cluster, status string) string {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(3 * time.Minute); ; { // beside tests that keep all processors busy
		var runs []runbookcmd.Status
		out, said, code := typed(t, "runbook", "status", "--json")
		if code == 0 && json.Unmarshal([]byte(out), &runs) == nil {
			for _, r := range runs {
				if r.Cluster == cluster && r.Status == status {
					return r.Run
				}
			}
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("no run on %s came to %s: %d %s%s", cluster, status, code, out, said)
		}
	}
}

// TestACancellationWaitsForItsTurn has a run that failed, and another one that is executed in the same state folder.
func TestACancellationWaitsForItsTurn(t *testing.T) {
	stateDirWith(t, map[string]string{"asks.yaml": askingBook, "fails.yaml": `
runbook: own/fails
steps:
  - {id: a, uses: command, with: {run: "touch a", check: "test -e a", undo: "rm a"}}
  - {id: go, approval: {note: "go on?"}}
  - {id: b, uses: command, with: {run: "false", undo: "true"}}
`, "plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
  orders2: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`})
	begin := func(args ...string) *talker {
		w := &talker{ended: make(chan int, 1)}
		go func() { w.ended <- typedAt(t, console.Streams{In: strings.NewReader(""), Out: w, Err: w}, args...) }()
		return w
	}
	fails := begin("runbook", "run", "fails.yaml", "--cluster", "orders2", "--yes")
	failed := runOn(t, "orders2", "asking")
	if _, said, code := typed(t, "runbook", "approve", failed, "--yes", "--plan", "notthis"); code != console.ExitBadInput || !strings.Contains(said, "--plan notthis: the plan of run "+failed+" is ") {
		t.Errorf("approve of another plan: %d %s", code, said)
	}
	if _, said, code := typed(t, "runbook", "approve", failed, "--yes"); code != 0 || strings.Contains(said, "no process executes it") {
		t.Errorf("approve of a run that is executed: %d %s", code, said)
	}
	if code := <-fails.ended; code != console.ExitTrouble {
		t.Fatalf("it ended with %d: %s", code, fails.said())
	}
	executes := begin("runbook", "run", "asks.yaml", "--cluster", "orders", "--yes")
	other := runOn(t, "orders", "asking")
	cancels := begin("runbook", "cancel", failed, "--undo", "--yes")
	cancels.until(t, "another plimsoll process, which is executing a run here")
	if out, said, code := typed(t, "runbook", "status", failed); code != 0 || strings.Contains(cancels.said(), "told") {
		t.Errorf("status: %d %s%s; cancel: %s", code, out, said, cancels.said())
	}
	if _, said, code := typed(t, "runbook", "approve", other, "--yes"); code != 0 || strings.Contains(said, "no process executes it") {
		t.Errorf("approve: %d %s", code, said)
	}
	if code := <-executes.ended; code != 0 {
		t.Errorf("the other run ended with %d: %s", code, executes.said())
	}
	if code := <-cancels.ended; code != 0 || !strings.Contains(cancels.said(), "run "+failed+": "+string(journal.RunUndone)) {
		t.Errorf("cancel ended with %d: %s", code, cancels.said())
	}
	if _, err := os.Stat("a"); err == nil {
		t.Error("what it did stands")
	}
}

// TestAnAnswerToARunThatNobodyExecutesSaysSo has one that was parked while it asked, and another one that is executed.
func TestAnAnswerToARunThatNobodyExecutesSaysSo(t *testing.T) {
	stateDirWith(t, map[string]string{"asks.yaml": askingBook, "plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
  orders2: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`})
	begin := func(cluster string) (w *talker, interrupt context.CancelFunc) {
		ctx, interrupt := context.WithCancel(t.Context())
		w = &talker{ended: make(chan int, 1)}
		go func() {
			w.ended <- typedUntil(ctx, console.Streams{In: strings.NewReader(""), Out: w, Err: w}, "runbook", "run", "asks.yaml", "--cluster", cluster, "--yes")
		}()
		return w, interrupt
	}
	parks, interrupt := begin("orders2")
	parked := runOn(t, "orders2", "asking")
	interrupt()
	if code := <-parks.ended; code != console.ExitInterrupted {
		t.Fatalf("it ended with %d: %s", code, parks.said())
	}
	executes, interrupt := begin("orders")
	defer interrupt()
	other := runOn(t, "orders", "asking")
	says(t, 0, "no process executes the run: plimsoll runbook resume "+parked, "runbook", "approve", parked, "--yes")
	says(t, 0, "no process executes it; plimsoll runbook resume "+parked, "runbook", "status", parked)
	says(t, 0, "the process that executes the run has received the cancellation", "runbook", "cancel", other, "--yes")
	if code := <-executes.ended; code != console.ExitTrouble || !strings.Contains(executes.said(), "run "+other+": cancelled") {
		t.Errorf("the other run ended with %d: %s", code, executes.said())
	}
}
