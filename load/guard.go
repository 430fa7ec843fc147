package load

import (
	"slices"
	"time"

	"plimsoll/series"
)

// GuardSecond is how the generator itself fared in one second. In a closed loop, which has no schedule to keep, the
// first four are zero.
type GuardSecond struct {
	StartLag    series.Snapshot // how late each operation started although a connection was free for it: our own fault
	StartLagP99 time.Duration
	CapShare    float64 // share of the second in which all connections were busy and operations waited
	Backlog     int64   // operations due and not yet started at the end of the second
	CPUShare    float64 // this process's CPU time over the second's, of all cores (0 to 1)
	Lost        int     // connections lost and not yet re-opened at the end of the second
	// Stall is the longest by which the generator's own clock woke late: in a closed loop, which measures from the moment
	// at which it got to act, nothing else tells that the machine gave it no turn.
	Stall time.Duration

	// Of a load that several processes issue, each one's own readings, in order. What stands above is then of all of them: lags
	// merged, backlogs and connections added, the largest share at the cap, the processor time used on the busiest machine.
	Loaders []LoaderGuard
}

// LoaderGuard is how one of several loaders fared in a second.
type LoaderGuard struct {
	Loader string
	GuardSecond
}

// Beyond these the measurement says more about the generator than about the database.
const (
	maxStartLag      = time.Millisecond // or, where it is more,
	maxStartLagShare = 0.05             // of the median response time
	maxCapShare      = 0.001
	maxCPUShare      = 0.8
	minStall         = 50 * time.Millisecond // less is a scheduler's usual turn on a machine that the server shares
	maxStallShare    = 0.01                  // of the time
)

// Reason is why a measurement is INVALID.
type Reason struct {
	Loader string // one of several; "": the only one, or all
	What   Fault
	Excess float64 // how many times what is allowed
	Detail string  // how bad, and what to do
}

// Fault is what was wrong with a load generator.
type Fault string

// The faults, worded to stand before their detail.
const (
	Late    Fault = "operations started late although connections were free"
	Capped  Fault = "all connections were busy while operations waited"
	Stalled Fault = "the load generator was short of CPU"
	Starved Fault = "the load generator used too much of this machine's processors"
)

// Advice says what to do about a fault. With -R, servers that are started later do not inherit the priority.
func (f Fault) Advice() string {
	if f == Capped {
		return "allow more operations in flight (more connections), or ask for a lower rate"
	}
	return "the load generator was short of CPU: stop what else runs on this machine, ask for a lower rate, or run the load from another machine. Or, once " +
		"the servers are up, give it priority: `sudo chrt -a -R -r -p 1 $(pgrep -nf 'plimsoll.* (trial run|load run|rehearse) ')`"
}

// Advice is what to do about the reasons, each thing once.
func Advice(reasons []Reason) []string {
	var out []string
	for _, r := range reasons {
		if a := r.What.Advice(); !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}

func (r Reason) String() string {
	text := string(r.What) + " " + r.Detail
	if r.Loader != "" {
		return r.Loader + ": " + text
	}
	return text
}

// Judge returns the reasons why what was measured in these seconds, with these response times, is INVALID; none if it is
// not. Seconds in which the database was disturbed on purpose should be left out: a server that stands still fills every
// connection.
func Judge(seconds []GuardSecond, response series.Snapshot) []Reason {
	h := NewHealth()
	for _, s := range seconds {
		h.Add(s)
	}
	return h.Reasons(response)
}

// Lateness is by how much, at p99, operations started late in these seconds although a connection was free for them.
func Lateness(seconds []GuardSecond) time.Duration {
	lag := series.NewHistogram()
	for _, s := range seconds {
		lag.Add(s.StartLag)
	}
	return lag.Quantile(0.99)
}
