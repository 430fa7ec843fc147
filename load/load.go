// Package load issues operations at a rate or by N connections, and books every one of them. It knows no database.
package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/series"
)

// Client performs operations for one worker, one at a time. It belongs to one goroutine, with two exceptions: Interrupt
// comes from another while Do is under way, and while Reconnect is under way in another, Next may be called.
type Client interface {
	// Next draws the kind of the next operation: an index into Spec.Operations. It needs no connection.
	Next() int
	// Do performs one operation. An error that implements Classified is booked under its class, "other" without; one that
	// implements Broken and says so has lost its connection, and the worker calls Reconnect before the next operation.
	Do(ctx context.Context, operation int) error
	// Reconnect tries once to get a lost connection back. It gives up when ctx ends, which it does after a second.
	Reconnect(ctx context.Context) error
	// Interrupt makes a Do that is under way return soon, with its connection lost. Called from another goroutine.
	Interrupt()
	Close() error
}

// Classified is an error that knows the class it is counted under, for example "deadlock" or "timeout".
type Classified interface{ Class() string }

// Broken is an error that can say that the connection is lost.
type Broken interface{ ConnectionLost() bool }

// The classes that this package gives by itself.
const (
	ClassTimeout     = "timeout"     // interrupted after Spec.Timeout, or at the end after Spec.Grace
	ClassUnavailable = "unavailable" // no connection, and none to be had
	ClassOther       = "other"
)

// Connect makes the client of one worker, FirstWorker to FirstWorker+Connections-1. It is called for several workers at once.
type Connect func(ctx context.Context, worker int) (Client, error)

// Spec is a load: a closed loop of Connections, or an open loop that follows Schedule.
type Spec struct {
	Operations  []string      // names of the kinds of operation
	Connections int           // closed loop: how many; open loop: the most in flight
	FirstWorker int           // number of the first worker: those of several loaders differ
	Schedule    Schedule      // nil: closed loop
	Duration    time.Duration // 0: until ctx ends, or the schedule
	Limit       time.Duration // response time above which an operation counts as late, or is skipped unsent; 0: none
	Timeout     time.Duration // an operation under way longer is interrupted and booked as error class "timeout"; 0: 30 s
	Grace       time.Duration // what is under way at the end may take this much longer; 0: 5 s

	// Begin is called once every connection is there, and says when to begin. nil: at once.
	Begin func(ctx context.Context) (time.Time, error)

	// NewAlarm makes what wakes the workers of an open loop. nil: the most precise that the system has. Inside a
	// testing/synctest bubble it must be NewTimer.
	NewAlarm func() (Alarm, error)
}

// Schedule is an arrival process in closed form. Uniform and Poisson make one.
type Schedule interface {
	// Arrivals begins the sequence: each call of the function it returns says when the next operation is due, after the
	// start and never earlier than the one before; ok is false past the last. Every sequence of a schedule is the same.
	Arrivals() func() (due time.Duration, ok bool)
	// Rate returns the intended rate at a moment, per second.
	Rate(at time.Duration) float64
	// Recipe says how it is made, so that another process can make the same; false where that cannot be said.
	Recipe() (Recipe, bool)
}

// Second is one second of a load: an interval per operation of which any ended in it, and the guard's readings.
// The last is as long as it came to be.
type Second struct {
	Start      time.Time
	Length     time.Duration
	Operations []series.Interval
	Guard      GuardSecond
}

// Patience is how long after its end a load may still be busy with what is under way.
func (s Spec) Patience() time.Duration { return s.withDefaults().Grace }

func (s Spec) withDefaults() Spec {
	if s.Timeout == 0 {
		s.Timeout = 30 * time.Second
	}
	if s.Grace == 0 {
		s.Grace = 5 * time.Second
	}
	if s.NewAlarm == nil {
		s.NewAlarm = newPreciseAlarm
	}
	return s
}

// Validate says what is wrong with a spec.
func (s Spec) Validate() error {
	switch {
	case len(s.Operations) == 0:
		return errors.New("a load needs at least one operation")
	case s.Connections < 1:
		return fmt.Errorf("a load of %d connections", s.Connections)
	case min(s.Duration, s.Limit, s.Timeout, s.Grace) < 0:
		return errors.New("a negative duration, limit, timeout or grace")
	}
	return nil
}
