package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"plimsoll/result"
	"plimsoll/trial/expect"

	"plimsoll/series"
)

// Signals that tell of a server's memory end in these, whatever the engine.
const (
	MissShare = ".pool_miss_share"
	MissRate  = ".pool_misses_per_second"
)

// When a node counts as warm.
const (
	warmMargin = 0.01
	warmFor    = 3
	beforehand = 10 * time.Second // what went before a change: the miss share that it is held against
)

// Memory is how many pages of the data set were in memory at one time, by node.
type Memory map[string]int64

// Remember notes what there is in the nodes' memory. For each node it keeps when that was least, since it was away if it was: what
// comes afterwards is how the node was warmed again.
func (s *PhaseRecord) Remember(seen Memory) {
	most := int64(0)
	for node, pages := range s.Before {
		most = max(most, pages)
		if _, here := seen[node]; !here {
			s.warmth = slices.DeleteFunc(s.warmth, func(w result.Warmth) bool { return w.Node == node })
		}
	}
	for node, pages := range seen {
		at := slices.IndexFunc(s.warmth, func(w result.Warmth) bool { return w.Node == node })
		if at < 0 {
			at = len(s.warmth)
			s.warmth = append(s.warmth, result.Warmth{Node: node, After: pages + 1, Before: most})
			if had, known := s.Before[node]; known {
				s.warmth[at].Before = had
			}
		}
		w := &s.warmth[at]
		if pages >= w.After {
			continue
		}
		w.After, w.Share, w.Since = pages, 1, time.Now()
		if w.Before > 0 {
			w.Share = min(float64(pages)/float64(w.Before), 1)
		}
	}
}

// Assign notes which parts the nodes play that are left.
func (s *PhaseRecord) Assign(left []string, primary string) {
	s.warmth = slices.DeleteFunc(s.warmth, func(w result.Warmth) bool { return !slices.Contains(left, w.Node) })
	for i := range s.warmth {
		w := &s.warmth[i]
		w.Role = "replica"
		if w.Node == primary {
			w.Role = "primary"
		}
	}
	slices.SortFunc(s.warmth, func(a, b result.Warmth) int { return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Node, b.Node)) })
}

// WarmAgain finds out, when a cell is over, how long the nodes took after each of its changes.
func (r *Recording) WarmAgain(cell string, round int, points []series.Point) {
	slices.SortStableFunc(points, func(a, b series.Point) int { return a.Time.Compare(b.Time) })
	var changes []*PhaseRecord
	for _, s := range r.Phases {
		if s.Cell == cell && s.Round == round && s.Change {
			changes = append(changes, s)
		}
	}
	for i, s := range changes {
		end := time.Now()
		if i+1 < len(changes) {
			end = changes[i+1].From
		}
		for n := range s.warmth {
			w := &s.warmth[n]
			normal, known := usual(points, w.Node, s.From)
			if !known {
				normal, known = usual(points, "", s.From) // of the nodes that were there
			}
			shares := of(points, MissShare, w.Node, w.Since, end)
			w.Asked = len(shares) > 0
			if known {
				w.Warm = warmAfter(shares, w.Since, normal)
			}
			for _, p := range of(points, MissRate, w.Node, w.Since, end) {
				w.Misses += p.Value // it is read once a second
			}
		}
	}
}

// warmth is the least share of a node's memory that a change left; nil when no look told.
func (r *Recording) warmth(cell, phase, node string) *float64 {
	var least *float64
	r.eachWarmth(cell, phase, node, func(w result.Warmth) {
		if least == nil || w.Share < *least {
			least = &w.Share
		}
	})
	return least
}

// warmTime is the longest time until a node was warm again, in milliseconds; nil when one was not within its data.
func (r *Recording) warmTime(cell, phase, node string) *float64 {
	longest, all := -1.0, true
	r.eachWarmth(cell, phase, node, func(w result.Warmth) {
		if w.Warm == nil {
			all = false
			return
		}
		longest = max(longest, expect.Millis(*w.Warm))
	})
	if !all || longest < 0 {
		return nil
	}
	return &longest
}

func (r *Recording) eachWarmth(cell, phase, node string, tell func(result.Warmth)) {
	for _, s := range r.Phases {
		if s.Cell != cell || phase != "" && s.Phase != phase {
			continue
		}
		for _, w := range s.warmth {
			if node == "" || node == w.Node || node == w.Role {
				tell(w)
			}
		}
	}
}

// of are the readings of a node, "" for all, in a period.
func of(points []series.Point, signal, node string, from, to time.Time) []series.Point {
	var out []series.Point
	for _, p := range points {
		if strings.HasSuffix(p.Signal, signal) && (node == "" || p.Node == node) && !p.Time.Before(from) && p.Time.Before(to) {
			out = append(out, p)
		}
	}
	return out
}

// usual is the median miss share of a node, or of all, before a moment.
func usual(points []series.Point, node string, at time.Time) (share float64, known bool) {
	before := of(points, MissShare, node, at.Add(-beforehand), at)
	if len(before) == 0 {
		return 0, false
	}
	slices.SortFunc(before, func(a, b series.Point) int { return cmp.Compare(a.Value, b.Value) })
	return before[len(before)/2].Value, true
}

// warmAfter is when miss shares begin to stay near what is usual. If the first of them does, it was so at once, as far as can
// be seen.
func warmAfter(shares []series.Point, from time.Time, normal float64) *time.Duration {
	begun := -1
	for i, p := range shares {
		switch {
		case p.Value > normal+warmMargin:
			begun = -1
			continue
		case begun < 0:
			begun = i
		}
		if i-begun+1 < warmFor {
			continue
		}
		took := shares[begun].Time.Sub(from)
		if begun == 0 {
			took = 0
		}
		return &took
	}
	return nil
}
