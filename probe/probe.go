// Package probe reads signals: what the database and its host show beside the load's own figures.
package probe

import (
	"context"
	"time"

	"plimsoll/series"
)

// Probe reads the signals of one node.
type Probe interface {
	// Read returns the points of now. Counters come as rates per second, so the first call may return fewer points.
	Read(ctx context.Context, now time.Time) ([]series.Point, error)
}

// rates turns rising counters into rates per second.
type rates struct {
	at   time.Time
	last map[string]float64
}

// begin starts a reading at now and returns how much time has passed since the one before, 0 for the first.
func (r *rates) begin(now time.Time) time.Duration {
	var passed time.Duration
	if !r.at.IsZero() {
		passed = now.Sub(r.at)
	}
	r.at = now
	if r.last == nil {
		r.last = map[string]float64{}
	}
	return passed
}

// rate books a counter and returns its rate; ok is false the first time, and when it fell, which says that the server
// was restarted.
func (r *rates) rate(name string, value float64, passed time.Duration) (perSecond float64, ok bool) {
	before, seen := r.last[name]
	r.last[name] = value
	if !seen || passed <= 0 || value < before {
		return 0, false
	}
	return (value - before) / passed.Seconds(), true
}
