package run

import (
	"reflect"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/trial/judge"
)

// Streams of one operation are one period, told by both ends and counted once, and are named in the cause of a dip that began
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
		t.Fatalf("%d periods, expected 2: %+v", len(flows), flows)
	}
	want := flow{judge.Span{Key: "bootstrap", From: at(10), To: at(16)}, map[string]moved{"a": {3e6, 3e6}, "b": {5e6, 0}}}
	if !reflect.DeepEqual(flows[0], want) {
		t.Errorf("got %+v, expected %+v", flows[0], want)
	}
	if got := flows[0].bytes(); got != 8e6 {
		t.Errorf("%d bytes moved, expected 8,000,000", got)
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

// Where the sender of one stream and the receiver of another have left the ring, both streams count whole: the sum of what was sent
// lacks the one, the sum of what was received the other. What goes both ways in one stream is counted once.
func TestAStreamCountsByWhicheverEndIsLeft(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(id, node string, sent, received int64) engine.Stream {
		return engine.Stream{ID: id, Node: node, Operation: "Repair", Status: "success", Sent: sent, Received: received, Began: at, Updated: at}
	}
	flows := flowsOf([]engine.Stream{
		of("sender left", "2", 0, 4e6), of("receiver left", "2", 7e6, 0), of("both ways", "1", 2e6, 1e6), of("both ways", "2", 1e6, 2e6),
	}, at, at)
	if len(flows) != 1 || flows[0].bytes() != 14e6 {
		t.Errorf("got %+v, expected one period of 14,000,000 bytes", flows)
	}
}
