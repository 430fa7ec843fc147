package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// method says how the numbers came about, in a few sentences.
func method(r *result.Result) []string {
	if r.Verdict.Watched != nil {
		return recordedMethod()
	}
	all := []string{
		procedure(r),
		"Response time counts from the moment an operation was due, service time from the moment it was sent. " +
			"Every scheduled operation ended as done, an error, late or skipped, and the four add up. Latencies are merged as histograms, never averaged.",
		aboutLedger(r),
		intervals(r),
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// rounds is how many rounds were measured at most.
func rounds(r *result.Result) int {
	n := 0
	for _, c := range r.Verdict.Cells {
		n = max(n, c.Rounds)
	}
	return n
}

// procedure tells warm-up, phases and rounds.
func procedure(r *result.Result) string {
	rounds := rounds(r)
	warm, measured := lengths(r.Verdict.Phases, "warmup"), lengths(r.Verdict.Phases, "measure")
	var s strings.Builder
	if len(warm) > 0 {
		fmt.Fprintf(&s, "The load ran %s to warm up before anything was measured. ", between(warm))
	}
	switch cells := len(r.Verdict.Cells); {
	case cells > 1:
		fmt.Fprintf(&s, "Each of the %d cells was measured", cells)
		if len(measured) > 0 {
			fmt.Fprintf(&s, " for %s", between(measured))
		}
		fmt.Fprintf(&s, " in %s", times(rounds, "round", "rounds"))
		if rounds > 1 {
			s.WriteString(" that took turns in a balanced order")
		}
		s.WriteString(".")
	case len(measured) > 0:
		fmt.Fprintf(&s, "It was measured for %s in %s.", between(measured), times(rounds, "round", "rounds"))
	case rounds > 0:
		fmt.Fprintf(&s, "The timeline ran in %s.", times(rounds, "round", "rounds"))
	}
	return strings.TrimSpace(s.String())
}

// intervals tells how certain the numbers are and why.
func intervals(r *result.Result) string {
	s := "Intervals"
	for _, c := range r.Verdict.Cells {
		for _, f := range c.Figures {
			if f.Estimate.Confidence > 0 && f.Estimate.Confidence < 1 {
				s = "Intervals of " + quantity.Share.Format(f.Estimate.Confidence) + " confidence"
			}
		}
	}
	s += " come from a block bootstrap that keeps the order of seconds, because neighbouring seconds are correlated, and from the differences between rounds, which are paired in a comparison.  "
	if rounds(r) == 1 {
		s += "The intervals of a single round cover only its own time: they do not show how much the next round would differ. "
	}
	return s + "A claim passes only if its whole interval lies within the margin and fails only if it lies wholly outside; Holm's correction makes the interval of each wider where several claims are judged together."
}

// lengths are the distinct lengths of a phase's occurrences, to the second.
func lengths(phases []result.Phase, name string) []time.Duration {
	var all []time.Duration
	for _, p := range phases {
		if p.Name == name {
			all = append(all, p.To.Sub(p.From).Round(time.Second))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func between(sorted []time.Duration) string {
	first, last := sorted[0], sorted[len(sorted)-1]
	if first == last {
		return quantity.Duration(first)
	}
	return quantity.Duration(first) + " to " + quantity.Duration(last)
}

func times(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
