package judge

import (
	"slices"
	"time"

	"plimsoll/result"
	"plimsoll/trial/expect"

	"plimsoll/analyze"
	"plimsoll/load"
	"plimsoll/series"
)

// Recording is what was measured, kept for judging.
type Recording struct {
	Phases   []*PhaseRecord
	events   []series.Event // that can be the cause of something
	Audits   []Audited
	readings []signalLog
}

// PhaseRecord is one phase of one cell in one round.
type PhaseRecord struct {
	Cell       string
	Round      int
	Phase      string
	Operations []string
	From, To   time.Time
	Change     bool     // something was done to the cluster in it
	Open       bool     // its operations arrived at a rate
	Steps      []Span   // of the runbook that was run
	Looks      []string // the keys of those that only looked or waited
	Before     Memory   // of a change
	Primary    string   // before a change, "" if none was known
	warmth     []result.Warmth
	Streams    []Span // of data between nodes, by the operation that they were for
	Promotions []Span // of nodes that joined a ring
	All        []analyze.Second
	each       map[string][]analyze.Second // by operation
	Guard      []load.GuardSecond
}

func (r *Recording) Begin(s PhaseRecord) *PhaseRecord {
	s.To, s.each = s.From, map[string][]analyze.Second{}
	r.Phases = append(r.Phases, &s)
	return &s
}

// measured tells whether anything was recorded after a warm-up, which is not judged.
func (r *Recording) measured() bool {
	return slices.ContainsFunc(r.Phases, func(s *PhaseRecord) bool { return s.Phase != expect.Warmup && len(s.All) > 0 })
}

// Add books a second of load.
func (s *PhaseRecord) Add(second load.Second) {
	s.To = second.Start.Add(second.Length)
	s.All = append(s.All, analyze.FromInterval(series.Together(second.Start, second.Length, second.Operations)))
	ended := map[string]analyze.Second{}
	for _, op := range second.Operations {
		ended[op.Operation] = analyze.FromInterval(op)
	}
	for _, name := range s.Operations {
		this, any := ended[name]
		if !any { // a second in which none ended is a measurement too
			this = analyze.Second{Start: second.Start, Length: second.Length}
		}
		s.each[name] = append(s.each[name], this)
	}
	s.Guard = append(s.Guard, second.Guard)
}

// Rounds returns the seconds of a cell in one phase ("" is every measured phase), during one step of a runbook ("" is all of
// the phase) and of one operation ("" is all together): one list per round, by its number, so that the rounds of two cells can
// be paired. A list is empty where nothing was measured.
func (r *Recording) Rounds(cell, phase, step, operation string) [][]analyze.Second {
	var out [][]analyze.Second
	for _, s := range r.Phases {
		if s.Cell != cell || s.Phase == expect.Warmup || phase != "" && s.Phase != phase {
			continue
		}
		for len(out) < s.Round {
			out = append(out, nil)
		}
		seconds := s.All
		if operation != "" {
			seconds = s.each[operation]
		}
		if step != "" {
			seconds = s.during(step, seconds)
		}
		out[s.Round-1] = append(out[s.Round-1], seconds...)
	}
	return out
}

// Measured is how many of the rounds there are.
func Measured(rounds [][]analyze.Second) int {
	n := 0
	for _, seconds := range rounds {
		if len(seconds) > 0 {
			n++
		}
	}
	return n
}

// during are the seconds in which a step, by its key or its id, was under way at all.
func (s *PhaseRecord) during(step string, seconds []analyze.Second) []analyze.Second {
	var out []analyze.Second
	for _, second := range seconds {
		if slices.ContainsFunc(s.Steps, func(x Span) bool {
			return (x.Key == step || x.ID() == step) && x.From.Before(second.Start.Add(second.Length)) && !x.To.Before(second.Start)
		}) {
			out = append(out, second)
		}
	}
	return out
}

// Second is how often a load delivers what it measured.
const Second = time.Second
