package analyze

import "time"

// Spell is a period from the first harm of a disturbance until nothing was wrong for ten seconds. What is said of a
// disturbance comes from its spells alone, so that no two sentences can disagree.
type Spell struct {
	From       time.Time     `json:"from"`
	To         time.Time     `json:"to"`      // zero: not over within the data
	Took       time.Duration `json:"took_ns"` // from its beginning to its end, or to the end of the data
	Throughput Course        `json:"throughput"`
	P99        Course        `json:"p99"`
	Errors     Course        `json:"errors"`
}

// Course is how one thing fared in a spell: throughput, p99 response time or errors.
type Course struct {
	Worse bool `json:"worse"` // than in the baseline, at any time of the spell
	// AsBefore tells whether it was as in the baseline again, and stayed so, within the data; After is how long after the spell's
	// beginning, or, where it was not, how long the data goes on.
	AsBefore bool          `json:"as_before"`
	After    time.Duration `json:"after_ns"`
}

// Over tells whether all was as before within the data.
func (s Spell) Over() bool { return !s.To.IsZero() }

// spells dates all periods of harm.
func spells(h harm, seconds []Second) []Spell {
	var out []Spell
	any := h.any()
	for from := 0; from < len(any); {
		begin, to, found := nextSpell(any[from:])
		if !found {
			break
		}
		begin, to = from+begin, from+to
		last := seconds[len(seconds)-1]
		s := Spell{From: seconds[begin].Start, Took: last.Start.Add(last.Length).Sub(seconds[begin].Start)}
		if to < len(seconds) {
			s.To = seconds[to].Start
			s.Took = s.To.Sub(s.From)
		}
		s.Throughput, s.P99, s.Errors = h.loss.course(s, seconds, begin, to), h.slow.course(s, seconds, begin, to), h.errors.course(s, seconds, begin, to)
		out = append(out, s)
		from = to
	}
	return out
}

// marks tells for each second whether one thing was worse than in the baseline.
type marks []bool

func (m marks) course(s Spell, seconds []Second, from, to int) Course {
	c := Course{AsBefore: true}
	for i := from; i < to; i++ {
		if !m[i] {
			continue
		}
		c.Worse, c.AsBefore, c.After = true, i+1 < len(seconds), s.Took
		if c.AsBefore {
			c.After = seconds[i+1].Start.Sub(s.From)
		}
	}
	return c
}
