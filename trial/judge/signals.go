package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/result"
	"plimsoll/trial/expect"

	"plimsoll/analyze"
	"plimsoll/series"
)

// signalLog is the points of the signals that expectations name, of one cell and round, in the order of time.
type signalLog struct {
	cell   string
	round  int
	points []series.Point
}

// Keep keeps the points of one cell and round for judging.
func (r *Recording) Keep(cell string, round int, points []series.Point, named func(signal string) bool) {
	kept := signalLog{cell: cell, round: round}
	for _, p := range points {
		if named(p.Signal) {
			kept.points = append(kept.points, p)
		}
	}
	slices.SortStableFunc(kept.points, func(a, b series.Point) int { return a.Time.Compare(b.Time) })
	r.readings = append(r.readings, kept)
}

// showing are the nodes of a cell that showed a signal at any time, in order.
func (r *Recording) showing(cell, signal string) []string {
	var nodes []string
	for _, all := range r.readings {
		for _, p := range all.points {
			if all.cell == cell && p.Signal == signal && !slices.Contains(nodes, p.Node) {
				nodes = append(nodes, p.Node)
			}
		}
	}
	slices.Sort(nodes)
	return nodes
}

// observed is a signal of one node in one period.
type observed struct {
	points []series.Point
	silent time.Duration // the longest time without a reading
	ending time.Duration // without one at the end
}

// observe picks the readings of a period. Silence counts from its beginning, but for a signal that a change brings
// about: from its first reading.
func (all signalLog) observe(signal, node string, from, to time.Time, change bool) observed {
	var o observed
	last, shown := from, !change
	for _, p := range all.points {
		switch {
		case p.Signal != signal || p.Node != node || p.Time.After(to):
			continue
		case p.Time.Before(from):
			shown = true
			continue
		case shown || len(o.points) > 0:
			o.silent = max(o.silent, p.Time.Sub(last))
		}
		o.points = append(o.points, p)
		last = p.Time
	}
	if shown || len(o.points) > 0 {
		o.ending = to.Sub(last)
		o.silent = max(o.silent, o.ending)
	}
	return o
}

// interval is a period that a metric speaks of.
type interval struct {
	from, to time.Time
	change   bool // something was done in it
}

func (r *Recording) spells(m expect.Metric, cell string, round int) []interval {
	var out []interval
	for _, s := range r.Phases {
		if s.Cell != cell || s.Round != round || s.Phase == expect.Warmup || m.Phase != "" && s.Phase != m.Phase {
			continue
		}
		if m.Step == "" {
			out = append(out, interval{s.From, s.To, s.Change})
			continue
		}
		for _, step := range s.Steps {
			if step.Key == m.Step || step.ID() == m.Step {
				out = append(out, interval{step.From, step.To, true})
			}
		}
	}
	return out
}

// ever is a silence that hides everything.
const ever = time.Duration(math.MaxInt64)

// level is what was read of a signal. Where readings are missing they may have been anything: then there is a value only if it
// refutes the expectation whatever they were.
func (r *Recording) level(m expect.Metric, e expect.Comparison, cell, node string) analyze.Quantity {
	q := analyze.Quantity{Name: m.String(), Statistic: analyze.Level()}
	var values []float64
	var silent time.Duration
	for _, all := range r.readings {
		if all.cell != cell {
			continue
		}
		points, hidden := all.during(m, node, r.spells(m, cell, all.round))
		silent = max(silent, hidden)
		for len(q.Rounds) < all.round {
			q.Rounds = append(q.Rounds, nil)
		}
		for _, p := range points {
			values = append(values, p.Value)
			q.Rounds[all.round-1] = append(q.Rounds[all.round-1], analyze.Second{Start: p.Time, Length: Second, Level: p.Value})
		}
	}
	switch {
	case len(values) == 0:
		q.Rounds, q.Lacks = nil, "readings of "+called(m, node)+": there were none"
		return q
	case m.Name == expect.Average && silent <= result.Silence:
		return q
	}
	value := map[string]float64{expect.Lowest: slices.Min(values), expect.Highest: slices.Max(values), expect.Latest: values[len(values)-1]}[m.Name]
	switch {
	case silent <= result.Silence, m.Name == expect.Highest && impossible(e, value, 1), m.Name == expect.Lowest && impossible(e, value, -1):
		q.Exact = &value
	case silent == ever:
		q.Rounds, q.Lacks = nil, "readings of "+called(m, node)+": a round had none"
	default:
		q.Rounds, q.Lacks = nil, fmt.Sprintf("readings of %s: there were none for %s", called(m, node), silent.Round(Second))
	}
	return q
}

// during are the readings of a round that a metric speaks of, and the silence that may hide others.
func (all signalLog) during(m expect.Metric, node string, spells []interval) (points []series.Point, silent time.Duration) {
	for _, s := range spells {
		o := all.observe(m.Signal, node, s.from, s.to, s.change)
		points = append(points, o.points...)
		if m.Name == expect.Latest {
			silent = o.ending // of the last of them
		} else {
			silent = max(silent, o.silent)
		}
	}
	if len(points) == 0 {
		silent = ever
	}
	return points, silent
}

// called is a signal's name with its node, for sentences.
func called(m expect.Metric, node string) string {
	if node == "" {
		return m.Signal
	}
	return m.Signal + " on " + node
}

// shown sums up the signals that expectations name, in one phase.
func (r *Recording) shown(s *PhaseRecord) []result.Shown {
	var out []result.Shown
	for _, all := range r.readings {
		if all.cell != s.Cell || all.round != s.Round {
			continue
		}
		seen := map[[2]string]bool{}
		for _, p := range all.points {
			if key := [2]string{p.Signal, p.Node}; !seen[key] {
				seen[key] = true
				if o := all.observe(p.Signal, p.Node, s.From, s.To, s.Change); len(o.points) > 0 {
					out = append(out, o.sum())
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b result.Shown) int {
		return cmp.Or(cmp.Compare(a.Signal, b.Signal), cmp.Compare(a.Node, b.Node))
	})
	return out
}

func (o observed) sum() result.Shown {
	first, last := o.points[0], o.points[len(o.points)-1]
	_, unit := series.SignalUnit(first.Signal)
	s := result.Shown{
		Signal: first.Signal, Node: first.Node, Unit: unit, Lowest: first.Value, Highest: first.Value, Last: last.Value,
		Readings: len(o.points), Silent: o.silent,
	}
	for _, p := range o.points {
		s.Lowest, s.Highest = min(s.Lowest, p.Value), max(s.Highest, p.Value)
		s.Mean += p.Value / float64(len(o.points))
	}
	return s
}
