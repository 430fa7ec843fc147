package judge

import "time"

// Promotion is the text for the moment in which a node that has joined a ring takes its ranges: reads and writes are its own from then on.
const Promotion = "promotion (the new node takes its ranges)"

// promoted tells whether a node took its ranges in a period, or within a second of it.
func (s *PhaseRecord) promoted(from, to time.Time) bool {
	for _, p := range s.Promotions {
		if p.From.Add(-Second).Before(to) && p.To.Add(Second).After(from) {
			return true
		}
	}
	return false
}
