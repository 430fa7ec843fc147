package trial

import (
	"slices"
	"time"

	"plimsoll/result"

	"plimsoll/analyze"
	"plimsoll/load"
	"plimsoll/series"
)

// recording is what was measured, kept for judging.
type recording struct {
	phases   []*phaseRecord
	events   []series.Event // that can be the cause of something
	audits   []audited
	readings []signalLog
}

// phaseRecord is one phase of one cell in one round.
type phaseRecord struct {
	cell       string
	round      int
	phase      string
	operations []string
	from, to   time.Time
	change     bool     // something was done to the cluster in it
	open       bool     // its operations arrived at a rate
	steps      []span   // of the runbook that was run
	looks      []string // the keys of those that only looked or waited
	before     memory   // of a change
	primary    string   // before a change, "" if none was known
	warmth     []result.Warmth
	streams    []span // of data between nodes, by the operation that they were for
	promotions []span // of nodes that joined a ring
	all        []analyze.Second
	each       map[string][]analyze.Second // by operation
	guard      []load.GuardSecond
}

func (r *recording) begin(s phaseRecord) *phaseRecord {
	s.to, s.each = s.from, map[string][]analyze.Second{}
	r.phases = append(r.phases, &s)
	return &s
}

// add books a second of load.
func (s *phaseRecord) add(second load.Second) {
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

// rounds returns the seconds of a cell in one phase ("" is every measured phase), during one step of a runbook ("" is all of
// the phase) and of one operation ("" is all together): one list per round, by its number, so that the rounds of two cells can
// be paired. A list is empty where nothing was measured.
func (r *recording) rounds(cell, phase, step, operation string) [][]analyze.Second {
	var out [][]analyze.Second
	for _, s := range r.phases {
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
		if step != "" {
			seconds = s.during(step, seconds)
		}
		out[s.round-1] = append(out[s.round-1], seconds...)
	}
	return out
}

// measured is how many of the rounds there are.
func measured(rounds [][]analyze.Second) int {
	n := 0
	for _, seconds := range rounds {
		if len(seconds) > 0 {
			n++
		}
	}
	return n
}

// during are the seconds in which a step, by its key or its id, was under way at all.
func (s *phaseRecord) during(step string, seconds []analyze.Second) []analyze.Second {
	var out []analyze.Second
	for _, second := range seconds {
		if slices.ContainsFunc(s.steps, func(x span) bool {
			return (x.key == step || x.id() == step) && x.from.Before(second.Start.Add(second.Length)) && !x.to.Before(second.Start)
		}) {
			out = append(out, second)
		}
	}
	return out
}

// second is how often a load delivers what it measured.
const second = time.Second
