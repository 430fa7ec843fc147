package mysql

import (
	"sync"
	"time"
)

// trend is how fast a number changes, from its last samples.
type trend struct {
	mu      sync.Mutex
	samples []sample
}

type sample struct {
	at    time.Time
	value float64
}

const (
	trendSpan  = 30 * time.Second // what is older does not count
	trendLeast = 5 * time.Second  // less than this shows no trend
)

// add takes a sample and returns the slope per minute of the least-squares line through those in the span; known is
// false until they cover enough time. The line rather than the difference: under a steady load these numbers go up and
// down from second to second.
func (t *trend) add(at time.Time, value float64) (perMinute float64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.samples = append(t.samples, sample{at, value})
	for at.Sub(t.samples[0].at) > trendSpan {
		t.samples = t.samples[1:]
	}
	if at.Sub(t.samples[0].at) < trendLeast || len(t.samples) < 3 {
		return 0, false
	}

	var x, y, xx, xy float64
	for _, s := range t.samples {
		dx := s.at.Sub(t.samples[0].at).Minutes()
		x, y, xx, xy = x+dx, y+s.value, xx+dx*dx, xy+dx*s.value
	}
	n := float64(len(t.samples))
	return (n*xy - x*y) / (n*xx - x*x), true
}
