package execute

import (
	"context"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/runbook/journal"
)

// outliving is a task that counts how often it is asked whether something of it goes on.
type outliving struct {
	action.Task
	asked int
}

func (l *outliving) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error {
	l.asked++
	return nil
}

// TestWhatAStepsOwnUndoLeftUnderWayIsWaitedFor has a step whose action leaves nothing behind and whose undo, by another, does.
func TestWhatAStepsOwnUndoLeftUnderWayIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	on, err := b.Open(t.Context(), "lab1")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{service: b.Service, state: &journal.State{Book: b.parse(touching)}, cluster: on, reading: on.ReadOnly()}
	by := &outliving{}
	if err := r.settle(t.Context(), on, "pause", map[string]any{"for": "1s"}, by, action.Call{}); err != nil || by.asked != 1 {
		t.Errorf("it was asked %d times, %v", by.asked, err)
	}
	if err := r.reading.Close(); err != nil {
		t.Error(err)
	}
	if err := on.Close(); err != nil {
		t.Error(err)
	}
}
