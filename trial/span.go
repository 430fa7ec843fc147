package trial

import (
	"time"
)

// span is the time that one step of a run took.
type span struct {
	key      string // restart, or each[n2].restart
	from, to time.Time
}

// id is the step's name in the runbook, whatever it was done for.
func (s span) id() string { return stepID(s.key) }

func byBeginning(a, b span) int { return a.from.Compare(b.from) }
