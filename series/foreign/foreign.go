// Package foreign reads what other load tools measured, so that it can stand beside a trial's own series.
package foreign

import (
	"time"

	"plimsoll/series"
)

// Basis is the moment from which a tool counts its times.
type Basis string

// The bases.
const (
	Service  Basis = "service"  // the actual start of an operation: what waited before it is not in it
	Response Basis = "response" // the intended start
)

// About says what was read, and from where. It is import.json of a folder that was imported.
type About struct {
	Tool   string    `json:"tool"`   // k6, hdr or plimsoll
	Source string    `json:"source"` // the file or folder
	Basis  Basis     `json:"basis"`
	From   time.Time `json:"from"` // the beginning of the first interval
	To     time.Time `json:"to"`   // the end of the last
	series.Tally
	ErrorClasses map[string]int64 `json:"error_classes,omitempty"`
	Notes        []string         `json:"notes,omitempty"` // what a reader should know: a line was cut off, operations were taken together
}

// Options say how a file is read. The zero value suits most.
type Options struct {
	By       string        // k6: the column that names operations; "" is name
	Metric   string        // k6: the metric whose values are durations in milliseconds; "" is http_req_duration
	Basis    Basis         // "" is what the tool measures: service time by k6; a log is taken for response times
	Unit     time.Duration // HdrHistogram: what a value of 1 is; 0 is a nanosecond
	Tags     []string      // HdrHistogram: those to read; none is all
	Progress func(read, total int64)
}

// sink takes the intervals of all operations that ended in one period, period by period.
type sink func(start time.Time, length time.Duration, operations []series.Interval) error

// ledger adds up what went into a sink.
func (a *About) ledger(into sink) sink {
	return func(start time.Time, length time.Duration, operations []series.Interval) error {
		if a.From.IsZero() || start.Before(a.From) {
			a.From = start
		}
		if end := start.Add(length); end.After(a.To) {
			a.To = end
		}
		for _, o := range operations {
			a.Tally = a.Plus(o.Tally)
			for class, n := range o.ErrorClasses {
				if a.ErrorClasses == nil {
					a.ErrorClasses = map[string]int64{}
				}
				a.ErrorClasses[class] += n
			}
		}
		return into(start, length, operations)
	}
}

// interval is an operation's part of a period.
func (a *About) interval(start time.Time, length time.Duration, operation string, times series.Snapshot, errors map[string]int64) series.Interval {
	i := series.Interval{Start: start, Length: length, Operation: operation, ErrorClasses: errors}
	i.Done = times.Count()
	for _, n := range errors {
		i.Errors += n
	}
	i.Scheduled = i.Done + i.Errors
	if a.Basis == Response {
		i.Response = times
	} else {
		i.Service = times
	}
	return i
}
