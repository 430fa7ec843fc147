package loader

import (
	"testing"
	"time"

	"plimsoll/series"
)

// piece is a second of a loader in which so many operations were done, with moments in milliseconds.
func piece(from, to, done int) secondReport {
	return secondReport{
		Start: time.Duration(from) * time.Millisecond, Length: time.Duration(to-from) * time.Millisecond,
		Operations: []series.Interval{{Operation: "read", Tally: series.Tally{Scheduled: int64(done), Done: int64(done)}}},
	}
}

// Seconds of loaders that turn their pages at different moments are put together to common ones, and nothing is lost.
func TestSecondsOfDifferentLength(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []secondReport
		ends []int // of the common seconds, in milliseconds
	}{
		"alike":               {[]secondReport{piece(0, 1000, 1), piece(1000, 2001, 1)}, []secondReport{piece(0, 1002, 1), piece(1002, 2000, 1)}, []int{1002, 2001}},
		"one stalls":          {[]secondReport{piece(0, 1000, 1), piece(1000, 3300, 1), piece(3300, 4000, 1)}, []secondReport{piece(0, 1000, 1), piece(1000, 2000, 1), piece(2000, 3000, 1), piece(3000, 4000, 1)}, []int{1000, 3300, 4000}},
		"short last ones":     {[]secondReport{piece(0, 1000, 1), piece(1000, 1400, 1)}, []secondReport{piece(0, 1000, 1), piece(1000, 1450, 1)}, []int{1000, 1450}},
		"one ends early":      {[]secondReport{piece(0, 1000, 1)}, []secondReport{piece(0, 1000, 1), piece(1000, 2000, 1), piece(2000, 2300, 1)}, []int{1000, 2000, 2300}},
		"one has a half more": {[]secondReport{piece(0, 1000, 1), piece(1000, 2500, 1), piece(2500, 3000, 1)}, []secondReport{piece(0, 1000, 1), piece(1000, 2020, 1), piece(2020, 2500, 1), piece(2500, 3000, 1)}, []int{1000, 2500, 3000}},
	} {
		for _, whole := range []bool{true, false} { // all told at once, or piece by piece
			a, b := &strand{}, &strand{}
			merged := together{operations: []string{"read"}, begun: time.Unix(0, 0), strands: []*strand{a, b}}
			var ends []time.Duration
			done := int64(0)
			take := func() {
				for s, any := merged.take(); any; s, any = merged.take() {
					ends = append(ends, s.Start.Add(s.Length).Sub(merged.begun))
					for _, o := range s.Operations {
						done += o.Done
					}
				}
			}
			for i := range max(len(c.a), len(c.b)) {
				for _, s := range []struct {
					to   *strand
					from []secondReport
				}{{a, c.a}, {b, c.b}} {
					if i < len(s.from) {
						s.to.pieces = append(s.to.pieces, s.from[i])
					}
					s.to.over = i >= len(s.from)-1
				}
				if !whole {
					take()
				}
			}
			take()
			if done != int64(len(c.a)+len(c.b)) {
				t.Errorf("%s: %d of %d operations", name, done, len(c.a)+len(c.b))
			}
			if !whole {
				continue // the ends depend on what came first
			}
			for i, end := range c.ends {
				if i >= len(ends) || ends[i] != time.Duration(end)*time.Millisecond {
					t.Errorf("%s: seconds end at %v, want %v ms", name, ends, c.ends)
					break
				}
			}
		}
	}
}
