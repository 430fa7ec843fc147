package superdisk

import (
	"time"
)

// Governor decides how fast a copy may go, by how the service fares. It begins slowly and doubles until the service is slower than the bound.
// Then it halves what was copied, waits until what is seen is no more of the time before, and grows again: by steps up to near the rate that
// was too much, and beyond by small ones. Copying slows before the service does.
type Governor struct {
	Bound   time.Duration // of the service's p99
	Floor   int64         // bytes per second: a copy that stands still never ends, and the array stays without its second leg
	Ceiling int64         // bytes per second

	rate   int64
	known  bool
	moving int64 // bytes that were copied in the last second; 0: not known
	top    int64 // the rate at which the service was too slow last; 0: none was
	wait   int   // looks that may still be of the time before the last cut
	sum    Governed
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

// aftermath is how many looks, one a second, still tell of the time before a cut: a p99 is of the last few seconds.
const aftermath = 5

// Rate is the rate in force, in bytes per second. It begins at the floor.
func (g *Governor) Rate() int64 {
	if !g.known {
		g.known, g.rate = true, g.Floor
		g.sum = Governed{Bound: g.Bound, Lowest: g.rate, Highest: g.rate}
	}
	return g.rate
}

// Moving says how much was copied in the last second: a disk may give less than the rate allows, and half of a rate that it never gave is no
// less.
func (g *Governor) Moving(bytes int64) { g.moving = bytes }

// See takes the service's p99 of the last while and returns the rate from now on.
func (g *Governor) See(p99 time.Duration) int64 {
	rate := g.Rate()
	g.sum.Looks++
	g.sum.WorstP99 = max(g.sum.WorstP99, p99)
	waits := g.wait > 0
	g.wait = max(0, g.wait-1)
	switch {
	case p99 > g.Bound:
		g.sum.Over++
		switch {
		case rate <= g.Floor:
			g.sum.AtFloor++
		case !waits:
			if g.moving > 0 {
				rate = min(rate, g.moving)
			}
			g.sum.Slowed++
			g.top, g.wait = rate, aftermath
			rate = max(g.Floor, rate/2)
		}
	case p99 >= g.Bound*9/10 || waits:
	case g.top == 0:
		rate = min(g.Ceiling, max(rate*2, rate+1))
	case rate < g.top*3/4:
		rate = min(g.Ceiling, rate+max(1, rate/8))
	default:
		rate = min(g.Ceiling, rate+max(1, rate/50))
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
