package collect

import (
	"math"
	"testing"
	"time"

	"plimsoll/watch"
)

// A statement of forty seconds ends between the list of sessions and the summaries of one reading: it is in both, and no load of forty
// sessions is shown. The readings after it agree with the one before it.
func TestAStatementThatEndsWhileItIsReadIsNoPeak(t *testing.T) {
	var l load
	at := time.Unix(1_000_000, 0)
	counters := &rates{now: map[string]float64{"threads_connected": 3}}
	var got []float64
	read := func(ended float64, running ...float64) {
		at = at.Add(time.Second)
		var sessions []session
		sum := ended
		for _, seconds := range running {
			sessions = append(sessions, session{class: "other", seconds: seconds})
			sum += seconds
		}
		l.turn(at, sessions, &total{statements: sum}, counters)
		load := 0.0
		for _, w := range l.latest {
			load += w.AAS
		}
		got = append(got, load)
	}
	read(100, 38)
	read(100, 39)
	read(140, 40) // it ends meanwhile: in both
	read(140)
	read(140.5, 0.5)
	for n, want := range []float64{1, 1, 1, 1.0 / 2, 1} {
		if math.Abs(got[n]-want) > 1e-9 {
			t.Errorf("reading %d shows %v, want %v; all: %v", n, got[n], want, got)
		}
	}
	// After a restart the sums begin anew.
	for range mostSkipped + 1 {
		read(0)
	}
	if read(1); math.Abs(got[len(got)-1]-1) > 1e-9 {
		t.Errorf("after a restart it shows %v", got)
	}
}

// A class that waited once is 0 afterwards, and not silent: PromQL would go on with its last value for five minutes.
func TestAClassThatWaitsNoMoreIsZero(t *testing.T) {
	var l load
	counters := &rates{now: map[string]float64{"threads_connected": 3}}
	at := time.Unix(1_000_000, 0)
	l.turn(at, []session{{class: "table lock"}}, nil, counters)
	l.turn(at.Add(time.Second), nil, nil, counters)
	want := []watch.Wait{{Class: "cpu"}, {Class: "table lock"}}
	if len(l.latest) != 2 || l.latest[0] != want[0] || l.latest[1] != want[1] {
		t.Errorf("it shows %+v, want %+v", l.latest, want)
	}
}
