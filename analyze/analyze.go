// Package analyze turns seconds into estimates with intervals, and estimates into verdicts.
//
// Seconds are correlated, rounds differ, and a percentile is no mean: docs/accuracy.md says how each of these is met and
// what that was measured to be worth.
package analyze

import (
	"time"

	"plimsoll/series"
)

// Second is one second of one period of a trial, of one operation or of all together.
type Second struct {
	Start  time.Time
	Length time.Duration
	series.Tally
	Response, Service series.Snapshot
	Level             float64 // of a second of a signal, its reading; a second of operations has none
}

// FromInterval is the second that an interval describes.
func FromInterval(i series.Interval) Second {
	return Second{Start: i.Start, Length: i.Length, Tally: i.Tally, Response: i.Response, Service: i.Service}
}

// Completed is how many operations were completed, late ones included.
func (s Second) Completed() int64 { return s.Done + s.Late }

// Quantity is one metric of one cell or phase, measured in one or more rounds.
// Seconds of different quantities of a claim with the same round index were measured close together and are paired.
type Quantity struct {
	Name      string
	Rounds    [][]Second
	Statistic Statistic
	Exact     *float64 // a number that is known, not estimated (lost writes); Rounds are then ignored
	AtLeast   bool     // Exact is what it was when the data ended: it was more
	Of        Subject  // of a time until something was as before: what
	Lacks     string   // of one without a value: what would be needed for it, where it is not operations
}

// Subject is what a time until something was as before is of.
type Subject string

// The subjects.
const (
	OfWrites  Subject = "writes"  // they were acknowledged again
	OfService Subject = "service" // throughput, response times and errors were all as before
)

// Options are how sure to be and how hard to work for it. The zero value means 99 % and 1,000 replicates.
type Options struct {
	Confidence float64 // of the intervals, and of a whole trial's verdicts together
	Replicates int     // of the bootstrap
	Seed       uint64  // of the bootstrap: the same seconds and seed give the same numbers
	// Agreement keeps a single round from deciding anything for or against a claim: whether rounds agree is not seen in it. Only
	// a fact refutes.
	Agreement bool
}

func (o Options) withDefaults() Options {
	if o.Confidence == 0 {
		o.Confidence = 0.99
	}
	if o.Replicates == 0 {
		o.Replicates = 1000
	}
	return o
}
