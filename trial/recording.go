package trial

import (
	"slices"
	"time"

	"plimsoll/analyze"
	"plimsoll/load"
	"plimsoll/series"
)

// recording is what was measured, kept for judging.
type recording struct{ stretches []*stretch }

// stretch is one phase of one cell in one round.
type stretch struct {
	cell       string
	round      int
	phase      string
	operations []string
	from, to   time.Time
	change     bool // something was done to the cluster in it
	all        []analyze.Second
	each       map[string][]analyze.Second // by operation
	guard      []load.GuardSecond
}

func (r *recording) begin(s stretch) *stretch {
	s.to, s.each = s.from, map[string][]analyze.Second{}
	r.stretches = append(r.stretches, &s)
	return &s
}

// add books a second of load.
func (s *stretch) add(second load.Second) {
	s.to = second.Start.Add(second.Length)
	s.all = append(s.all, analyze.FromInterval(series.Together(second.Start, second.Length, second.Operations)))
	ended := map[string]analyze.Second{}
	for _, op := range second.Operations {
		ended[op.Operation] = analyze.FromInterval(op)
	}
	for _, name := range s.operations {
		this, any := ended[name]
		if !any { // a second in which none ended is a measurement too
			this = analyze.Second{Start: second.Start, Length: second.Length}
		}
		s.each[name] = append(s.each[name], this)
	}
	s.guard = append(s.guard, second.Guard)
}

// rounds returns the seconds of a cell, one list per round, of one phase ("" is every measured phase) and one operation
// ("" is all together).
func (r *recording) rounds(cell, phase, operation string) [][]analyze.Second {
	var out [][]analyze.Second
	for _, s := range r.stretches {
		if s.cell != cell || s.phase == warmup || phase != "" && s.phase != phase {
			continue
		}
		for len(out) < s.round {
			out = append(out, nil)
		}
		seconds := s.all
		if operation != "" {
			seconds = s.each[operation]
		}
		out[s.round-1] = append(out[s.round-1], seconds...)
	}
	return slices.DeleteFunc(out, func(seconds []analyze.Second) bool { return len(seconds) == 0 })
}

// warmup is the name of the phase that is not judged.
const warmup = "warmup"
