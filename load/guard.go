package load

import (
	"fmt"
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
}

// Beyond these the measurement says more about the generator than about the database.
const (
	maxStartLag      = time.Millisecond // or, where it is more,
	maxStartLagShare = 0.05             // of the median response time
	maxCapShare      = 0.001
	maxCPUShare      = 0.8
)

// Judge returns the reasons why what was measured in these seconds, with these response times, is INVALID; none if it is
// not. Seconds in which the database was disturbed on purpose should be left out: a server that stands still fills every
// connection.
func Judge(seconds []GuardSecond, response series.Snapshot) []string {
	if len(seconds) == 0 {
		return nil
	}
	var reasons []string
	lag := series.NewHistogram()
	var capped, cpu float64
	for _, s := range seconds {
		lag.Add(s.StartLag)
		capped += s.CapShare / float64(len(seconds))
		cpu += s.CPUShare / float64(len(seconds))
	}
	bound := max(maxStartLag, time.Duration(maxStartLagShare*float64(response.Quantile(0.5))))
	if p99 := lag.Quantile(0.99); p99 > bound {
		reasons = append(reasons, fmt.Sprintf("operations started late although connections were free: p99 %v, allowed %v",
			p99.Round(time.Microsecond), bound.Round(time.Microsecond)))
	}
	if capped > maxCapShare {
		reasons = append(reasons, fmt.Sprintf("all connections were busy while operations waited in %.2f %% of the time, allowed %.2f %%; give it more connections",
			100*capped, 100*maxCapShare))
	}
	if cpu > maxCPUShare {
		reasons = append(reasons, fmt.Sprintf("the load generator used %.0f %% of this machine's processors, allowed %.0f %%",
			100*cpu, 100*maxCPUShare))
	}
	return reasons
}
