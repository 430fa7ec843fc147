package run

import (
	"testing"
	"time"

	"plimsoll/engine"
)

// Moves are dated by how long they say that they have run, and by when they were not shown as running any more.
func TestMovesAreDated(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	move := func(action string, ordinal int, status string, took float64) engine.Move {
		return engine.Move{Database: "db", Action: action, Ordinal: ordinal, Target: "l", Status: status, Took: time.Duration(took * float64(time.Second))}
	}
	const copying, promoting = "COPY PARTITION", "PROMOTE PARTITION WITH DROP"
	var s moveLog
	s.take([]engine.Move{move(copying, 1, "scheduled", 0), move(promoting, 1, "scheduled", 0)}, at(0))
	s.take([]engine.Move{move(copying, 1, "running", 1), move(promoting, 1, "scheduled", 0)}, at(2))
	s.take([]engine.Move{move(copying, 1, "success", 9), move(promoting, 1, "running", 0.5)}, at(10))
	s.take(nil, at(11)) // it is over: nothing is shown any more
	s.take([]engine.Move{move(copying, 1, "success", 2)}, at(30))

	flows := flowsOf(s.streams(), start, at(40))
	want := []struct {
		key      string
		from, to float64
	}{{"copy", 1, 10}, {"promote", 9.5, 11}, {"copy", 28, 30}}
	if len(flows) != len(want) {
		t.Fatalf("%+v", flows)
	}
	for i, w := range want {
		if f := flows[i]; f.Key != w.key || !f.From.Equal(at(w.from)) || !f.To.Equal(at(w.to)) || len(f.streams) != 1 {
			t.Errorf("%+v, want %+v", f, w)
		}
	}
}
