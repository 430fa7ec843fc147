package store

import (
	"math"
	"reflect"
	"testing"
	"time"

	"plimsoll/watch"
)

// A day in segments is the day as it is evaluated in one piece, the first time and again, and when the range has moved on.
func TestADayInSegmentsIsTheDay(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only read
	end := time.Now().Truncate(time.Second)
	for at := end.Add(-10 * time.Hour); at.Before(end); at = at.Add(15 * time.Second) {
		var r watch.Reading
		for _, n := range []string{"b", "a"} {
			if n == "a" || at.After(end.Add(-3*time.Hour)) { // one comes later
				r.Add(at, "x", math.Sin(float64(at.Unix())/600), "n", n)
			}
		}
		if err := s.Append(t.Context(), r.Samples); err != nil {
			t.Fatal(err)
		}
	}
	for _, expr := range []string{"x", "avg_over_time(x[3m])", "sum(rate(x[5m]))", "x offset 1h", "absent(x{n='b'})", "max_over_time(x[1h:1m])", "x @ end()", "x offset -1h"} {
		for _, moved := range []time.Duration{0, 0, 60 * time.Second, 61 * time.Second, 7 * time.Second} {
			from, to := end.Add(-9*time.Hour).Add(moved), end.Add(moved)
			for _, step := range []time.Duration{time.Minute, 37 * time.Second, 3 * time.Hour} {
				want, err := s.reader.Query(t.Context(), expr, from, to, step)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Query(t.Context(), expr, from, to, step)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s every %s, moved by %s: %d lines, want %d; %v", expr, step, moved, len(got), len(want), err)
				}
			}
		}
	}
	if len(s.segments.kept) == 0 {
		t.Error("there is no copy")
	}
	before := len(s.segments.kept)
	if _, err := s.Query(t.Context(), "x", end.Add(-9*time.Hour), end, time.Minute); err != nil || len(s.segments.kept) != before {
		t.Errorf("what was asked before is evaluated again: %d segments, then %d, %v", before, len(s.segments.kept), err)
	}
	if _, err := s.Query(t.Context(), "sum(", end.Add(-9*time.Hour), end, time.Minute); err == nil {
		t.Error("half an expression is answered")
	}
}

// A sample that comes late is in the next answer, whatever was kept.
func TestALateSampleIsInTheNextAnswer(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was only read
	end := time.Now().Truncate(time.Minute)
	put := func(at time.Time, value float64) {
		t.Helper()
		if err := s.Append(t.Context(), []watch.Sample{{Name: "x", At: at, Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	for at := end.Add(-6 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
		put(at, 1)
	}
	ask := func() []Line {
		t.Helper()
		lines, err := s.Query(t.Context(), "max_over_time(x[2m])", end.Add(-5*time.Hour), end, time.Minute)
		if err != nil || len(lines) != 1 {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		return lines
	}
	ask()
	before := len(s.segments.kept) // at least three, whatever the time of day: they end at even hours
	ask()
	if after := len(s.segments.kept); before < 3 || after != before {
		t.Errorf("%d segments are kept, then %d", before, after)
	}
	late := end.Add(-20*time.Minute - 30*time.Second)
	put(late, 7)
	if after := len(s.segments.kept); after == 0 || after >= before {
		t.Errorf("of %d segments %d are kept after a sample of 20 minutes ago", before, after)
	}
	seen := 0
	for _, p := range ask()[0].Points {
		if p.Value == 7 {
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("the late sample is seen at %d steps, want 2", seen)
	}
}
