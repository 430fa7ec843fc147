package trial

import "time"

// promotion is what is said of the moment in which a node that has joined a ring takes its ranges: reads and writes are its own from
// then on.
const promotion = "promotion (the new node takes its ranges)"

// promoted tells whether a node took its ranges in a stretch of time, or within a second of it.
func (s *phaseRecord) promoted(from, to time.Time) bool {
	for _, p := range s.promotions {
		if p.from.Add(-second).Before(to) && p.to.Add(second).After(from) {
			return true
		}
	}
	return false
}
