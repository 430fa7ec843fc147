package loader

import (
	"slices"
	"time"

	"plimsoll/load"
	"plimsoll/series"
)

// together is the seconds of several loaders as those of one load.
type together struct {
	operations []string
	begun      time.Time
	strands    []*strand
	end        time.Duration // up to which seconds were taken, since the beginning
}

// strand is what one loader told.
type strand struct {
	name    string
	machine string
	pieces  []secondReport // not yet taken
	end     time.Duration  // of what was taken
	over    bool           // nothing more will come
	lost    *loss          // what it did not live to tell; nil: it lives
}

// near is how far apart the ends of two seconds may lie that are the same one: a loader turns its page when it gets to it.
const near = 500 * time.Millisecond

// take returns the next second of the load once every loader has told what belongs to it: one second of each, and more of those
// that turned their pages faster than another could.
func (t *together) take() (load.Second, bool) {
	end, any := t.end+time.Millisecond, false
	counts := make([]int, len(t.strands))
	for i, s := range t.strands {
		if len(s.pieces) == 0 {
			if !s.over {
				return load.Second{}, false
			}
			continue
		}
		counts[i], any = 1, true
		end = max(end, s.endOf(1))
	}
	if !any {
		return load.Second{}, false
	}
	for grew := true; grew; {
		grew = false
		for i, s := range t.strands {
			for counts[i] < len(s.pieces) && (s.endOf(counts[i]+1) <= end || s.endOf(counts[i]) < end-near) {
				counts[i]++
				if e := s.endOf(counts[i]); e > end {
					end, grew = e, true
				}
			}
			if !s.over && s.endOf(counts[i]) < end-near {
				return load.Second{}, false
			}
		}
	}
	parts := make([][]secondReport, len(t.strands))
	for i, s := range t.strands {
		s.end = s.endOf(counts[i])
		parts[i], s.pieces = s.pieces[:counts[i]], s.pieces[counts[i]:]
	}
	return t.second(end, parts), true
}

// rest is a last second for what dead loaders did not live to tell up to the load's end, if nobody else's second held it.
func (t *together) rest() (load.Second, bool) {
	end, owes := t.end, false
	for _, s := range t.strands {
		if s.lost == nil {
			continue
		}
		if s.lost.stop != never {
			end = max(end, s.lost.stop)
		}
		owes = owes || s.lost.owes(end)
	}
	if !owes {
		return load.Second{}, false
	}
	return t.second(end, make([][]secondReport, len(t.strands))), true
}

func (p secondReport) end() time.Duration { return p.Start + p.Length }

// endOf is where the strand is when so many of its pieces are taken.
func (s *strand) endOf(count int) time.Duration {
	if count == 0 {
		return s.end
	}
	return s.pieces[count-1].end()
}

// second adds up what each loader told of it.
func (t *together) second(end time.Duration, parts [][]secondReport) load.Second {
	second := load.Second{Start: t.begun.Add(t.end), Length: end - t.end}
	t.end = end
	byName := map[string][]series.Interval{}
	for i, pieces := range parts {
		for _, p := range pieces {
			for _, o := range p.Operations {
				byName[o.Operation] = append(byName[o.Operation], o)
			}
		}
		if lost := t.strands[i].lost; lost != nil {
			if n := lost.until(end); n > 0 {
				byName[unknown] = append(byName[unknown], lostInterval(n))
			}
		}
	}
	for _, name := range append(slices.Clone(t.operations), unknown) {
		if all := byName[name]; all != nil {
			sum := series.Together(second.Start, second.Length, all)
			sum.Operation = name
			second.Operations = append(second.Operations, sum)
		}
	}
	second.Guard = t.guard(parts)
	return second
}

// guard is how the loaders fared.
func (t *together) guard(parts [][]secondReport) load.GuardSecond {
	var all load.GuardSecond
	lag := series.NewHistogram()
	cpu := map[string]float64{}
	for i, pieces := range parts {
		s := t.strands[i]
		if s.lost != nil {
			all.Lost += s.lost.connections
		}
		if len(pieces) == 0 {
			continue
		}
		own := guardOf(pieces)
		lag.Add(own.StartLag)
		all.CapShare = max(all.CapShare, own.CapShare)
		all.Backlog += own.Backlog
		all.Lost += own.Lost
		all.Stall = max(all.Stall, own.Stall)
		cpu[s.machine] += own.CPUShare
		all.CPUShare = max(all.CPUShare, cpu[s.machine])
		all.Loaders = append(all.Loaders, load.LoaderGuard{Loader: s.name, GuardSecond: own})
	}
	all.StartLag, all.StartLagP99 = lag.Snapshot(), lag.Quantile(0.99)
	return all
}

// guardOf is how one loader fared in one or more seconds.
func guardOf(pieces []secondReport) load.GuardSecond {
	if len(pieces) == 1 {
		return pieces[0].Guard
	}
	last := pieces[len(pieces)-1].Guard
	sum := load.GuardSecond{Backlog: last.Backlog, Lost: last.Lost}
	var length time.Duration
	for _, p := range pieces {
		length += p.Length
	}
	lag := series.NewHistogram()
	for _, p := range pieces {
		share := float64(p.Length) / float64(max(length, 1))
		lag.Add(p.Guard.StartLag)
		sum.CapShare += share * p.Guard.CapShare
		sum.CPUShare += share * p.Guard.CPUShare
		sum.Stall = max(sum.Stall, p.Guard.Stall)
	}
	sum.StartLag, sum.StartLagP99 = lag.Snapshot(), lag.Quantile(0.99)
	return sum
}
