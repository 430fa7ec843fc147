package run

import (
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/trial/judge"
)

// Streams of one operation are one stretch, told by both ends and counted once, and are named in the cause of a dip that began
// while they went on.
func TestStreamsAreNamedInTheCause(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	flows := flowsOf([]engine.Stream{
		{ID: "b", Node: "1", Operation: "Bootstrap", Status: "success", Sent: 5e6, Began: at(12.5), Updated: at(16)},
		{ID: "a", Node: "1", Operation: "Bootstrap", Status: "success", Sent: 3e6, Began: at(10), Updated: at(12)},
		{ID: "a", Node: "4", Operation: "Bootstrap", Status: "success", Follower: true, Received: 3e6, Began: at(10.1), Updated: at(12.1)},
		{ID: "c", Node: "1", Operation: "Repair", Status: "start", Sent: 1, Began: at(15), Updated: at(15)},
		{ID: "z", Node: "1", Operation: "Bootstrap", Status: "success", Sent: 9e6, Began: at(-100), Updated: at(-90)},
	}, at(0), at(30))
	if len(flows) != 2 {
		t.Fatalf("%d stretches, expected 2: %+v", len(flows), flows)
	}
	want := flow{judge.Span{Key: "bootstrap", From: at(10), To: at(16)}, 8e6, 3e6, 2}
	if flows[0] != want {
		t.Errorf("got %+v, expected %+v", flows[0], want)
	}
	if flows[1].To != at(30) {
		t.Errorf("a stream that goes on ended at %s", flows[1].To)
	}

	change := &judge.PhaseRecord{Change: true, Steps: []judge.Span{{Key: "join", From: at(1), To: at(20)}, {Key: "others[n1].cleanup", From: at(20), To: at(25)}}}
	for _, f := range flows[:1] {
		change.Streams = append(change.Streams, f.Span)
	}
	var r judge.Recording
	for seconds, cause := range map[float64]string{
		5: "join", 11: "join (data streams: bootstrap)", 18: "join", 21: "others[n1].cleanup",
	} {
		if got, _ := r.Cause(change, analyze.Dip{Onset: at(seconds)}); got != cause {
			t.Errorf("at %.0f s: %q, expected %q", seconds, got, cause)
		}
	}
}
