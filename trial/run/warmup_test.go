package run

import (
	"errors"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/trial/judge"
)

func TestASmallDriftIsNotWaitedForWithoutEnd(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(second int) time.Time { return now.Add(time.Duration(second) * time.Second) }
	drift := func(value float64) []engine.Pending {
		return []engine.Pending{{Signal: "drift", Value: value, Calm: 10}, {Signal: "lag", Value: 0, Calm: 1}}
	}
	var e pendingWatch
	for _, step := range []struct {
		second int
		value  float64
		err    error
		low    bool
	}{
		{0, 100, nil, false}, {2, 25, nil, false}, {9, 28, nil, false}, {11, 31, nil, false}, // above thrice: from the beginning
		{12, 20, nil, false}, {20, 20, errors.New("no answer"), false}, {21, 29, nil, false}, {30, 12, nil, false}, {31, 12, nil, true},
	} {
		if got := e.low(drift(step.value), step.err, at(step.second)); got != step.low {
			t.Errorf("second %d: low is %v", step.second, got)
		}
	}
	if e.low([]engine.Pending{{Signal: "loading", Value: 1}}, nil, at(60)) {
		t.Error("what must be nothing is no drift")
	}
}

func TestRoundsArePairedByTheirNumber(t *testing.T) {
	var r judge.Recording
	for _, s := range []struct {
		cell    string
		round   int
		seconds int
	}{{"a", 1, 2}, {"b", 1, 0}, {"a", 2, 3}, {"b", 2, 4}} {
		to := r.Begin(judge.PhaseRecord{Cell: s.cell, Round: s.round, Phase: "measure"})
		to.All = make([]analyze.Second, s.seconds)
	}
	a, b := r.Rounds("a", "", "", ""), r.Rounds("b", "", "", "")
	if len(a) != 2 || len(b) != 2 || len(b[0]) != 0 || len(b[1]) != 4 || judge.Measured(a) != 2 || judge.Measured(b) != 1 {
		t.Errorf("a %d, b %d rounds: %v %v", len(a), len(b), a, b)
	}
}
