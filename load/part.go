package load

import "time"

// Part is the share of a load that one of several loaders issues, part from 0 to of-1: every of-th operation of the schedule
// from the part-th on, and as many of the connections. What all the loaders issue together is the load, exactly.
func (s Spec) Part(part, of int) Spec {
	first := 0
	for p := range part {
		first += shareOf(s.Connections, p, of)
	}
	s.FirstWorker += first
	s.Connections = shareOf(s.Connections, part, of)
	if s.Schedule != nil {
		s.Schedule = everyNth{s.Schedule, part, of}
	}
	return s
}

// shareOf is the part-th of n things dealt out one by one.
func shareOf(n, part, of int) int { return (n + of - 1 - part) / of }

// everyNth is every of-th operation of a schedule, from the part-th on.
type everyNth struct {
	Schedule
	part, of int
}

func (s everyNth) Arrivals() func() (time.Duration, bool) {
	advance := s.Schedule.Arrivals()
	skip := s.part
	return func() (due time.Duration, ok bool) {
		for range skip {
			if due, ok = advance(); !ok {
				return due, false
			}
		}
		skip = s.of - 1
		return advance()
	}
}

func (s everyNth) Rate(at time.Duration) float64 { return s.Schedule.Rate(at) / float64(s.of) }
