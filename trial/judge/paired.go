package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/analyze"
)

// inAll are the rounds, counted from 1, in which each of several quantities was measured. What is laid side by side is computed from
// these alone: of other rounds there is nothing to compare with.
func inAll(quantities ...[][]analyze.Second) []int {
	var out []int
	for round := 1; len(quantities) > 0 && round <= len(quantities[0]); round++ {
		if !slices.ContainsFunc(quantities, func(q [][]analyze.Second) bool { return round > len(q) || len(q[round-1]) == 0 }) {
			out = append(out, round)
		}
	}
	return out
}

// only leaves the rounds that are not among some empty.
func only(rounds [][]analyze.Second, some []int) [][]analyze.Second {
	out := make([][]analyze.Second, len(rounds))
	for _, round := range some {
		out[round-1] = rounds[round-1]
	}
	return out
}

// others are the rounds that were measured and are not among some.
func others(rounds [][]analyze.Second, some []int) []int {
	var out []int
	for i, seconds := range rounds {
		if len(seconds) > 0 && !slices.Contains(some, i+1) {
			out = append(out, i+1)
		}
	}
	return out
}

// roundsInWords writes "round 2" or "rounds 1, 2 and 4".
func roundsInWords(rounds []int) string {
	var parts []string
	for _, round := range rounds {
		parts = append(parts, strconv.Itoa(round))
	}
	last := len(parts) - 1
	switch {
	case last < 0:
		return "no round"
	case last == 0:
		return "round " + parts[0]
	}
	return fmt.Sprintf("rounds %s and %s", strings.Join(parts[:last], ", "), parts[last])
}
