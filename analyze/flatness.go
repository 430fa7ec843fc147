package analyze

import (
	"fmt"
	"math"
	"slices"
)

// flatness is what a stretch of a series shows, and in words why it is not flat.
type flatness struct {
	state state
	why   string
}

// state is one of these, the worst last.
type state int

const (
	flat    state = iota
	unclear       // a longer stretch would tell
	jumping
	sloping
)

// flatnessOf judges a series on a relative scale. Slopes are a second.
func flatnessOf(name string, values []float64, allowed, limit, confidence float64) flatness {
	if slices.ContainsFunc(values, math.IsNaN) {
		return flatness{sloping, "there are seconds in which nothing completes"}
	}
	t := newTrend(values)
	half := t.half(1 - confidence)
	slope := math.Abs(t.slope)
	if slope > half && slope > allowed {
		return flatness{sloping, fmt.Sprintf("%s still %s %s/min", name, pick(t.slope > 0, "rises", "falls"), percent(slope*60))}
	}
	if j := latestJump(values); j.evident() {
		return flatness{jumping, fmt.Sprintf("%s %s %s in the last %d s", name, pick(j.size > 0, "rose", "fell"), percent(math.Abs(j.size)), j.seconds)}
	}
	if slope+half > limit {
		return flatness{unclear, fmt.Sprintf("%s is too unsteady to call it flat yet: it could drift by %s/min", name, percent((slope+half)*60))}
	}
	return flatness{state: flat}
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// percent writes a share with two digits.
func percent(share float64) string { return fmt.Sprintf("%.2g %%", share*100) }
