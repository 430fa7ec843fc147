package judge

import (
	"time"

	"plimsoll/trial/expect"
)

// Span is the time that one step of a run took.
type Span struct {
	Key      string // restart, or each[n2].restart
	From, To time.Time
}

// ID is the step's name in the runbook, whatever it was done for.
func (s Span) ID() string { return expect.StepID(s.Key) }

func byBeginning(a, b Span) int { return a.From.Compare(b.From) }
