package judge

import (
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
)

// pieces divides the seconds of a dip by what was under way in them; none where that was the same all the time.
func (s *PhaseRecord) pieces(d analyze.Dip, baseline, during []analyze.Second) []result.Piece {
	var out []result.Piece
	var own []analyze.Second
	for _, x := range during {
		if x.Start.Before(d.Onset) || !d.Recovered.IsZero() && !x.Start.Before(d.Recovered) {
			continue
		}
		end := x.Start.Add(x.Length)
		cause := s.most(x.Start, end)
		if n := len(out); n == 0 || out[n-1].During != cause {
			out, own = append(out, result.Piece{During: cause, From: x.Start}), nil
		}
		own = append(own, x)
		p := &out[len(out)-1]
		p.To, p.Worst = end, analyze.WorstOf(baseline, own)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// most is what was under way for most of a second: a promotion in it, else the step, with the streams of data that went on for
// at least half of it; "" when there was none.
func (s *PhaseRecord) most(from, to time.Time) string {
	for _, p := range s.Promotions {
		if p.From.Before(to) && p.To.After(from) {
			return Promotion
		}
	}
	key, longest := "", time.Duration(0)
	for _, x := range s.Steps {
		if took := earlier(x.To, to).Sub(Later(x.From, from)); took > longest {
			key, longest = x.Key, took
		}
	}
	switch {
	case key == "" && s.early(from):
		return firstChecks
	case key == "":
		return ""
	}
	return key + streaming(s, from.Add(to.Sub(from)/2), to)
}
