// Package series holds what is measured over time: latency histograms, per-second intervals, signals, and their files.
package series

import "time"

// Bytes is an amount of memory or storage.
type Bytes int64

// Tally accounts for scheduled operations. Every scheduled operation ends in exactly one of the other four.
type Tally struct {
	Scheduled int64 `json:"scheduled"`
	Done      int64 `json:"done"`    // completed, in time where a limit was set
	Errors    int64 `json:"errors"`  // answered by an error, or given up after the timeout
	Late      int64 `json:"late"`    // completed, but after the load's latency limit
	Skipped   int64 `json:"skipped"` // never sent: already over the limit when a connection was free, or still queued at the end
}

// Balanced reports whether the four ends add up to what was scheduled.
func (t Tally) Balanced() bool { return t.Scheduled == t.Done+t.Errors+t.Late+t.Skipped }

// Plus returns the sum of two tallies.
func (t Tally) Plus(o Tally) Tally {
	return Tally{
		Scheduled: t.Scheduled + o.Scheduled,
		Done:      t.Done + o.Done,
		Errors:    t.Errors + o.Errors,
		Late:      t.Late + o.Late,
		Skipped:   t.Skipped + o.Skipped,
	}
}

// Interval is what one operation did in one interval (a second, unless the load stopped earlier).
// An operation is booked, all of it, in the interval in which it ended.
type Interval struct {
	Start     time.Time
	Length    time.Duration
	Operation string
	Tally
	ErrorClasses map[string]int64 // sums to Tally.Errors; nil when there were none
	Response     Snapshot         // from the intended start; done and late operations
	Service      Snapshot         // from the actual start
	Wait         Snapshot         // actual start minus intended start
}

// Seconds is the length of the interval as a number, for rates.
func (i Interval) Seconds() float64 { return i.Length.Seconds() }

// Throughput is the rate of operations that completed, late ones included, per second.
func (i Interval) Throughput() float64 {
	if i.Length <= 0 {
		return 0
	}
	return float64(i.Done+i.Late) / i.Seconds()
}

// Point is one value of one signal.
type Point struct {
	Time   time.Time
	Signal string // for example mysql.history_list_length, host.cpu
	Node   string // which machine or database node it describes
	Value  float64
}

// Event is something that happened at a moment: a phase began, a node was killed, a connection was lost.
type Event struct {
	Time   time.Time      `json:"time"`
	Kind   EventKind      `json:"kind"` // one of EventKinds
	Name   string         `json:"name,omitempty"`
	Node   string         `json:"node,omitempty"`
	Cell   string         `json:"cell,omitempty"`
	Round  int            `json:"round,omitempty"`
	Detail map[string]any `json:"detail,omitempty"`
}
