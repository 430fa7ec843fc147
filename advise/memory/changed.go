package memory

import (
	"fmt"
	"math"
	"time"
)

// change is a moment of the look after which the load was another.
type change struct {
	at     int           // the interval that is the first of the new load
	after  time.Duration // since the look began
	what   string
	before float64
	now    float64
}

const (
	leastAround = 8    // intervals on each side of a change
	muchMore    = 1.3  // a load that became another: by at least so much
	farApart    = 10.0 // and by so many standard errors
)

// changed finds the moment at which the load changed most, if it did: by the requests a second, or by the part of them that is read from
// disk. Means of logarithms before and after each moment are compared (Welch 1947), and what a batch does again and again is on both sides.
func changed(intervals []Interval) (c change, is bool) {
	for what, of := range map[string]func(Interval) float64{
		"requests a second":        func(i Interval) float64 { return float64(i.Counts.Requests) / max(i.Seconds, 1e-3) },
		"reads for 1,000 requests": func(i Interval) float64 { return 1000 * float64(i.Counts.Read) / max(float64(i.Counts.Requests), 1) },
	} {
		values := make([]float64, len(intervals))
		for n, i := range intervals {
			values[n] = max(of(i), 1e-3)
		}
		at, before, now, became := Changed(values)
		if !became || is && c.what < what {
			continue
		}
		c, is = change{at: at, what: what, before: before, now: now}, true
		for _, i := range intervals[:at] {
			c.after += time.Duration(i.Seconds * float64(time.Second))
		}
	}
	return c, is
}

// Changed tells whether positive values became others, and from which on, with the geometric means before and since.
func Changed(values []float64) (at int, before, now float64, is bool) {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	at, t, a, b := split(logs)
	return at, math.Exp(a), math.Exp(b), math.Abs(a-b) >= math.Log(muchMore) && t >= farApart
}

// split finds where the mean before and the mean after are farthest apart, in standard errors.
func split(values []float64) (at int, t, before, after float64) {
	sums, squares := make([]float64, len(values)+1), make([]float64, len(values)+1)
	for i, v := range values {
		sums[i+1], squares[i+1] = sums[i]+v, squares[i]+v*v
	}
	part := func(from, to int) (mean, error2 float64) {
		n := float64(to - from)
		mean = (sums[to] - sums[from]) / n
		return mean, max((squares[to]-squares[from])/n-mean*mean, 1e-6) / (n - 1)
	}
	for i := leastAround; i <= len(values)-leastAround; i++ {
		a, ea := part(0, i)
		b, eb := part(i, len(values))
		if d := math.Abs(a-b) / math.Sqrt(ea+eb); d > t {
			at, t, before, after = i, d, a, b
		}
	}
	return at, t, before, after
}

// note says what changed, and of which load the prediction speaks.
func (c change) note(began time.Time) string {
	return fmt.Sprintf("The load changed at %s, %s after the observation had begun: %s %s before, %s since. The prediction is for the load since then, which was observed for a shorter time. Observe again, for a whole cycle of the load.",
		began.Add(c.after).UTC().Format("15:04:05 MST"), c.after.Round(time.Second), grouped(c.before), c.what, grouped(c.now))
}
