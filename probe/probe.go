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

// Shown are the signals of this package's probes that read no database, by whose they are.
func Shown() map[string][]string {
	return map[string][]string{
		"a server's process":                    ProcessSignals(),
		"a disk with limits":                    DiskSignals(),
		"a Super Disk, on a machine of its own": SuperDiskSignals(),
	}
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

// share books a counter and that of the whole, and returns the share of what came since; ok is false when nothing came.
func (r *rates) share(name string, part, whole float64, passed time.Duration) (share float64, ok bool) {
	parts, ok := r.rate(name, part, passed)
	wholes, also := r.rate(name+" of", whole, passed)
	if !ok || !also || wholes == 0 {
		return 0, false
	}
	return min(max(parts/wholes, 0), 1), true
}
