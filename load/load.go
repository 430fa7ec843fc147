// Package load issues operations at a rate or by N connections, and books every one of them. It knows no database.
package load

import (
	"context"
	"time"

	"plimsoll/series"
)

// Client performs operations for one worker, one at a time. It belongs to one goroutine, but for Interrupt.
type Client interface {
	// Next draws the kind of the next operation: an index into Spec.Operations.
	Next() int
	// Do performs one operation. An error that implements Classified is booked under its class; one that implements
	// Broken and says so has lost its connection, and the worker calls Reconnect before the next operation.
	Do(ctx context.Context, operation int) error
	// Reconnect tries once to get a lost connection back.
	Reconnect(ctx context.Context) error
	// Interrupt makes a Do that is under way return soon, with its connection lost. Called from another goroutine.
	Interrupt()
	Close() error
}

// Classified is an error that knows the class it is counted under, for example "deadlock" or "timeout".
type Classified interface{ Class() string }

// Broken is an error that can say that the connection is lost.
type Broken interface{ ConnectionLost() bool }

// Connect makes the client of one worker, 0 to Connections-1.
type Connect func(ctx context.Context, worker int) (Client, error)

// Spec is a load: a closed loop of Connections, or an open loop that follows Schedule.
type Spec struct {
	Operations  []string      // names of the kinds of operation
	Connections int           // closed loop: how many; open loop: the most in flight
	Schedule    Schedule      // nil: closed loop
	Duration    time.Duration // 0: until ctx ends or Stop is called
	Limit       time.Duration // response time above which an operation is late, or skipped unsent; 0: none
	Timeout     time.Duration // an operation under way longer is interrupted and booked as error class "timeout"; 0: 30 s
}

// Schedule is an arrival process in closed form.
type Schedule interface {
	// At returns when operation i (from 0) is due, after the start; ok is false past the last one. Calls come with
	// i rising by one.
	At(i int64) (due time.Duration, ok bool)
	// Rate returns the intended rate at a moment, per second.
	Rate(at time.Duration) float64
}

// Second is one second of a load: an interval per operation that was scheduled or ended in it, and the guard's readings.
type Second struct {
	Start      time.Time
	Length     time.Duration
	Operations []series.Interval
	Guard      GuardSecond
}

// GuardSecond is how the generator itself fared in one second.
type GuardSecond struct {
	StartLagP99 time.Duration // how late operations started although a connection was free for them: our own fault
	CapShare    float64       // share of the second in which all connections were busy and operations waited
	Backlog     int64         // operations due and not yet started at the end of the second
	CPUShare    float64       // this process's CPU time over the second's, of all cores (0 to 1)
	Lost        int           // connections lost and not yet re-opened at the end of the second
}
