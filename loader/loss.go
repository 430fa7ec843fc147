package loader

import (
	"time"

	"plimsoll/load"
	"plimsoll/series"
)

// unknown is the operation that a dead loader's are booked under: which they would have been, only it knew.
const unknown = "unknown"

// classLost is the class of error under which they are booked.
const classLost = "loader_lost"

// loss counts the operations of a loader that died: those that were due and that it did not tell the end of.
type loss struct {
	connections int
	arrivals    func() (time.Duration, bool) // nil: a closed loop
	due         time.Duration                // the next one's moment
	ended       bool                         // there is no next one
	stop        time.Duration                // nothing is due at or after it
	owed        int64                        // due so far and not booked
}

// newLoss begins after what the loader had told: so many operations. A closed loop has no schedule by which to count what was
// not told; what is known is that each of its connections had an operation under way.
func newLoss(spec load.Spec, told int64, stop time.Duration) *loss {
	l := &loss{connections: spec.Connections, stop: stop, owed: -told}
	if spec.Schedule == nil {
		l.owed, l.ended = int64(spec.Connections), true
		return l
	}
	l.arrivals = spec.Schedule.Arrivals()
	l.step()
	return l
}

func (l *loss) step() {
	var ok bool
	if l.due, ok = l.arrivals(); !ok {
		l.ended = true
	}
}

// until returns how many more are lost up to a moment.
func (l *loss) until(end time.Duration) int64 {
	if !l.owes(end) {
		return 0
	}
	n := l.owed
	l.owed = 0
	return n
}

// owes tells whether any are lost up to a moment that until has not returned.
func (l *loss) owes(end time.Duration) bool {
	for !l.ended && l.due <= end && l.due < l.stop {
		l.owed++
		l.step()
	}
	return l.owed > 0
}

func lostInterval(n int64) series.Interval {
	return series.Interval{
		Operation: unknown, Tally: series.Tally{Scheduled: n, Errors: n}, ErrorClasses: map[string]int64{classLost: n},
	}
}
