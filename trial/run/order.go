package run

import "plimsoll/trial/spec"

// order returns the cells of a round in the order in which they are run: each round begins elsewhere, and every other
// one goes backwards, so that a drift of the machine falls on all cells alike while cells that are compared stay neighbours.
func order(cells []*spec.Cell, round, rounds int) []*spec.Cell {
	n := len(cells)
	out := make([]*spec.Cell, n)
	shift := (round - 1) * n / max(rounds, 1)
	for i := range n {
		out[i] = cells[(i+shift)%n]
	}
	if round%2 == 0 {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}
