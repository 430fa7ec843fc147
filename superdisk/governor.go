package superdisk

import (
	"time"
)

// Governor decides how fast a copy may go, by how the service fares: it slows by half when the service is slower than the
// bound and grows by a step while it is not. Copying slows before the service does.
type Governor struct {
	Bound   time.Duration // of the service's p99
	Floor   int64         // bytes per second: a copy that stands still never ends, and the array stays without its second leg
	Ceiling int64         // bytes per second

	rate  int64
	known bool
	sum   Governed
}

// Governed is what a governor did.
type Governed struct {
	Bound    time.Duration
	Looks    int           // at the service's p99
	Over     int           // of them above the bound
	Slowed   int           // times the rate was cut
	AtFloor  int           // looks above the bound while the rate could not be cut further
	Blind    int           // looks that told nothing
	Lowest   int64         // rate
	Highest  int64         // rate
	WorstP99 time.Duration // of a look
}

// steps from the floor to the ceiling.
const steps = 20

// Rate is the rate in force, in bytes per second. It begins at a quarter of the way.
func (g *Governor) Rate() int64 {
	if !g.known {
		g.known, g.rate = true, g.Floor+(g.Ceiling-g.Floor)/4
		g.sum = Governed{Bound: g.Bound, Lowest: g.rate, Highest: g.rate}
	}
	return g.rate
}

// See takes the service's p99 of the last while and returns the rate from now on.
func (g *Governor) See(p99 time.Duration) int64 {
	rate := g.Rate()
	g.sum.Looks++
	g.sum.WorstP99 = max(g.sum.WorstP99, p99)
	switch {
	case p99 > g.Bound:
		g.sum.Over++
		if rate <= g.Floor {
			g.sum.AtFloor++
			break
		}
		g.sum.Slowed++
		rate = max(g.Floor, rate/2)
	case p99 < g.Bound*9/10:
		rate = min(g.Ceiling, rate+max(1, (g.Ceiling-g.Floor)/steps))
	}
	return g.put(rate)
}

// Blind says that the service's p99 cannot be told: the copy goes on slowly, since a service that nobody can ask may be the
// one that suffers.
func (g *Governor) Blind() int64 {
	g.sum.Looks++
	g.sum.Blind++
	return g.put(max(g.Floor, g.Rate()/2))
}

func (g *Governor) put(rate int64) int64 {
	g.rate = rate
	g.sum.Lowest, g.sum.Highest = min(g.sum.Lowest, rate), max(g.sum.Highest, rate)
	return rate
}

// Summary says what it did.
func (g *Governor) Summary() Governed {
	g.Rate()
	return g.sum
}
