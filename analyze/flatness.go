package analyze

import (
	"fmt"
	"math"
	"slices"
)

// flatness is what a period of a series shows, and in words why it is not flat.
type flatness struct {
	state state
	why   string
}

// state is one of these, the worst last.
type state int

const (
	flat    state = iota
	unclear       // a longer period would tell
	jumping
	sloping
)

// flatnessOf judges the last n values of a series on a relative scale, with those before them for context. Slopes are a
// second; share turns a step on the scale into the share by which the thing changed.
func flatnessOf(name string, share func(step float64) float64, context []float64, n int, allowed, limit, confidence float64) flatness {
	values := context[len(context)-n:]
	if slices.ContainsFunc(values, math.IsNaN) {
		return flatness{sloping, "there are seconds in which no operation completes"}
	}
	recent, longer := slopeOf(values, confidence), slopeOf(context, confidence)
	for _, slope := range []slope{recent, longer} {
		// What looks flat may be a piece of a slope that only a longer look makes plain.
		if slope.evident(allowed) && recent.near(slope) {
			return flatness{sloping, fmt.Sprintf("%s still %s %s/min",
				name, pick(slope.perSecond > 0, "rises", "falls"), percent(math.Abs(slope.perSecond)*60))}
		}
	}
	if j := latestJump(values); j.evident() {
		return flatness{jumping, fmt.Sprintf("%s %s %s in the last %d s", name, pick(j.size > 0, "rose", "fell"), percent(math.Abs(share(j.size))), j.seconds)}
	}
	if worst := math.Abs(recent.perSecond) + recent.half; worst > limit {
		return flatness{unclear, fmt.Sprintf("%s is too unsteady to call it flat yet: it could drift by %s/min", name, percent(worst*60))}
	}
	return flatness{state: flat}
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// asIs is the share of a scale on which the steps are shares.
func asIs(step float64) float64 { return step }

// percent writes a share with two digits, or as many as it has before the point.
func percent(share float64) string {
	if share >= 1 {
		return fmt.Sprintf("%.0f %%", share*100)
	}
	return fmt.Sprintf("%.2g %%", share*100)
}
