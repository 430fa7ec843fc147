package main

import (
	"errors"
	"net"
	"os"
	"testing"

	"plimsoll/infra/local"
	"plimsoll/runbook/journal"
)

const askingBook = `
runbook: own/asks
steps:
  - {id: go, approval: {note: "Go on?"}}
`

// TestNoPortIsOpenWhileARunWaits looks at the sockets of this very process while a run of it waits for an approval.
func TestNoPortIsOpenWhileARunWaits(t *testing.T) {
	if _, err := local.Listeners(os.Getpid()); errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("this system does not show a process's sockets: %v", err)
	}
	stateDirWith(t, map[string]string{"asks.yaml": askingBook, "plimsoll.yaml": `clusters:
  orders: {engine: mysql, environment: staging, user: app, nodes: [{name: a, address: "127.0.0.1:1"}]}
`})
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if at, err := local.Listeners(os.Getpid()); err != nil || len(at) != 1 {
		t.Error("a port that is open is not seen: nothing would be proved")
	}
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() {
		_, _, code := typed(t, "runbook", "run", "asks.yaml", "--cluster", "orders", "--yes")
		ended <- code
	}()
	run := inPhase(t, "go", journal.StepAsking)
	if at, err := local.Listeners(os.Getpid()); err != nil || len(at) > 0 {
		t.Errorf("it listens at %v, %v", at, err)
	}
	if _, said, code := typed(t, "runbook", "approve", run, "--yes"); code != 0 {
		t.Errorf("approve: %d %s", code, said)
	}
	if code := <-ended; code != 0 {
		t.Errorf("the run ended with %d", code)
	}
}
