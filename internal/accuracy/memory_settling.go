package main

import "math"

// settling tells when the pages read for an operation no longer fall: a pool that was filled by reading the tables in turn holds what nobody
// asks for, and where most requests find their page it takes long until that is replaced.
type settling struct{ seen []work }

const (
	fallen      = 0.03  // that reads for an operation may still fall between the last two quarters of the time
	tellsApart  = 2_000 // reads in a quarter that tell so much from chance
	fewestLooks = 240   // a minute
)

// settled adds what was counted since the beginning, and compares the last quarter of the time with the one before it.
func (s *settling) settled(now work) bool {
	s.seen = append(s.seen, now)
	n := len(s.seen)
	if n < fewestLooks {
		return false
	}
	half, last := s.seen[n/2], s.seen[n*3/4]
	before, after := between(half, last), between(last, now)
	if min(before.reads, after.reads) < tellsApart {
		return false
	}
	chance := math.Sqrt(1/float64(before.reads) + 1/float64(after.reads))
	return after.each() >= before.each()*(1-fallen-chance)
}

// between is what was counted from one moment to the next.
func between(from, to work) work {
	return work{reads: to.reads - from.reads, requests: to.requests - from.requests, operations: to.operations - from.operations, took: to.took - from.took}
}
