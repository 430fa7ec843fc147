package store

import (
	"fmt"
	"math"
	"testing"
	"time"

	"plimsoll/watch"
)

// A day of forty series of one second, as a page asks for it: the first time, and when the day has moved on by a step. Processor time is
// what counts on a machine that does other things too: -benchtime=20x -cpuprofile shows where it goes.
func BenchmarkADay(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it is thrown away
	end := time.Now().Truncate(time.Minute)
	for at := end.Add(-25 * time.Hour); at.Before(end); at = at.Add(time.Second) {
		var r watch.Reading
		for n := range 40 {
			r.Add(at, "x", 10+math.Sin(float64(at.Unix())/600+float64(n)), "n", fmt.Sprint(n))
		}
		if err := s.Append(b.Context(), r.Samples); err != nil {
			b.Fatal(err)
		}
	}
	const step = 3 * time.Minute
	for _, expr := range []string{"avg_over_time(x[3m])", "x", "rate(x[5m])"} {
		ask := func(to time.Time) {
			lines, err := s.Query(b.Context(), expr, to.Add(-24*time.Hour), to, step)
			if err != nil || len(lines) != 40 {
				b.Fatalf("%d lines, %v", len(lines), err)
			}
		}
		b.Run("first/"+expr, func(b *testing.B) {
			for b.Loop() {
				s.segments = segments{}
				ask(end.Truncate(step))
			}
		})
		b.Run("again/"+expr, func(b *testing.B) {
			for b.Loop() {
				ask(end.Truncate(step))
			}
		})
	}
}
