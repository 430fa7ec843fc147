package store

import (
	"testing"
	"time"

	"plimsoll/watch"
)

// filled is a store with ten hours of forty series, in blocks, opened with these options; and how much all of it is.
func filled(t *testing.T, o Options) (s *Store, whole int64, end time.Time) {
	t.Helper()
	folder := t.TempDir()
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	end = time.Now().Truncate(time.Second)
	for at := end.Add(-10 * time.Hour); at.Before(end); at = at.Add(time.Minute) {
		var r watch.Reading
		for _, n := range []string{"a", "b", "c", "d"} {
			r.Add(at, "x", float64(at.UnixNano()%9973), "n", n)
		}
		if err := s.Append(t.Context(), r.Samples); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole = s.Size().Bytes
	if blocks := len(s.db.Blocks()); blocks < 2 || whole == 0 {
		t.Fatalf("%d blocks of %d bytes", blocks, whole)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(folder, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })               // the test has ended
	if err := s.db.Compact(t.Context()); err != nil { // as it does by itself once a minute
		t.Fatal(err)
	}
	return s, whole, end
}

// oldest is how far back the series reach.
func oldest(t *testing.T, s *Store, end time.Time) time.Duration {
	t.Helper()
	lines, err := s.Select(t.Context(), `x{n="a"}`, end.Add(-24*time.Hour), end)
	if err != nil || len(lines) != 1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	return end.Sub(lines[0].Points[0].At)
}

func TestSeriesAreKeptForATime(t *testing.T) {
	for age, want := range map[time.Duration][2]time.Duration{0: {9*time.Hour + 59*time.Minute, 10*time.Hour + time.Minute}, 3 * time.Hour: {3 * time.Hour, 8 * time.Hour}} {
		s, _, end := filled(t, Options{Age: age})
		if back := oldest(t, s, end); back < want[0] || back > want[1] {
			t.Errorf("with an age of %s the series reach back %s, want %s", age, back, want)
		}
	}
}

func TestSeriesAreKeptUpToASize(t *testing.T) {
	_, whole, _ := filled(t, Options{})
	limit := whole / 2
	s, _, end := filled(t, Options{Bytes: limit})
	if size := s.Size().Bytes; size > limit {
		t.Errorf("%d bytes are kept, at most %d", size, limit)
	}
	if back := oldest(t, s, end); back > 9*time.Hour {
		t.Errorf("the series reach back %s: the oldest are not gone", back)
	}
}
