package store

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// A range of time is evaluated in segments, several at the same time, and what lies so far back that it cannot change any more is kept:
// a page that asks for a day again every few seconds has the last minutes evaluated, not the day. To decode the samples is what takes the
// time. Where samples still come the segments are short, so that little is evaluated again.
const (
	segmentLength = 2 * time.Hour
	shortLengths  = 8               // short segments in a long one
	settled       = 5 * time.Minute // after which few samples come, and those that do have what is kept forgotten
	mostPoints    = 500_000         // that are kept, of 32 bytes each
)

// segments keeps answers about segments.
type segments struct {
	mu     sync.Mutex
	kept   map[segment][]Line
	oldest []segment // in the order in which they came
	points int
	late   int // how often samples came late
}

// segment is what one answer is about: an expression at the steps from one time to before another.
type segment struct {
	expr             string
	from, last, step int64 // ms; last is the time of its last step
}

// Query implements what reader.Query says.
func (s *Store) Query(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]Line, error) {
	if step < time.Millisecond || to.Sub(from) <= segmentLength || !divisible(s.parser, expr) {
		return s.reader.Query(ctx, expr, from, to, step)
	}
	all := divide(expr, from, to, step, time.Now().Add(-settled))
	answers, errs := make([][]Line, len(all)), make([]error, len(all))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var asking sync.WaitGroup
	for i, one := range all {
		turns <- struct{}{}
		asking.Go(func() {
			answers[i], errs[i] = s.segment(ctx, one)
			<-turns
		})
	}
	asking.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return joined(answers, from, to), nil
}

// segment answers one, from what is kept if it is there.
func (s *Store) segment(ctx context.Context, one segment) ([]Line, error) {
	lines, late, kept := s.segments.get(one)
	if kept {
		return lines, nil
	}
	lines, err := s.reader.Query(ctx, one.expr, time.UnixMilli(one.from), time.UnixMilli(one.last), time.Duration(one.step)*time.Millisecond)
	if err == nil && time.UnixMilli(one.last).Before(time.Now().Add(-settled)) {
		s.segments.put(one, lines, late)
	}
	return lines, err
}

// divisible tells whether each step of an expression looks back from itself alone: then it does not matter which range it is asked in, and
// nothing of later can change it.
func divisible(p parser.Parser, expr string) bool {
	e, err := p.ParseExpr(expr)
	if err != nil {
		return false // the one who evaluates it says what is wrong
	}
	whole := true
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			whole = whole && n.Timestamp == nil && n.StartOrEnd == 0 && n.OriginalOffset >= 0 && n.OriginalOffsetExpr == nil
		case *parser.SubqueryExpr:
			whole = whole && n.Timestamp == nil && n.StartOrEnd == 0 && n.OriginalOffset >= 0 && n.OriginalOffsetExpr == nil
		}
		return nil
	})
	return whole
}

// divide splits a range at the same times whatever it is, so that the segments of a range that moved on are those of before. The first
// may begin earlier than was asked. Those that end after the time given are short.
func divide(expr string, from, to time.Time, step time.Duration, shortFrom time.Time) (all []segment) {
	every, end := step.Milliseconds(), to.UnixMilli()
	short := max(segmentLength.Milliseconds()/shortLengths/every, 1) * every
	long := short * max(segmentLength.Milliseconds()/short, 1)
	phase := from.UnixMilli() % every
	var length int64
	for at := from.UnixMilli() - from.UnixMilli()%long; at <= end; at += length {
		if length = long; at+long > shortFrom.UnixMilli() {
			length = short
		}
		if at+length <= from.UnixMilli() {
			continue // a short one wholly before what was asked
		}
		first := at - at%every + phase
		if first < at {
			first += every
		}
		last := first + length - every
		if last > end {
			last = end - (end-first)%every
		}
		if first <= end && last >= first {
			all = append(all, segment{expr, first, last, every})
		}
	}
	return all
}

// joined lays the answers about segments one behind the other, and leaves out what lies outside of the range.
func joined(answers [][]Line, from, to time.Time) []Line {
	at := map[string]int{}
	all := []Line{}
	names := []labels.Labels{}
	for _, lines := range answers {
		for _, l := range lines {
			points := l.Points
			for len(points) > 0 && points[0].At.Before(from.Truncate(time.Millisecond)) {
				points = points[1:]
			}
			for len(points) > 0 && points[len(points)-1].At.After(to) {
				points = points[:len(points)-1]
			}
			if len(points) == 0 {
				continue
			}
			name := labels.FromMap(l.Labels)
			n, seen := at[name.String()]
			if !seen {
				n = len(all)
				at[name.String()] = n
				all, names = append(all, Line{Labels: l.Labels}), append(names, name)
			}
			all[n].Points = append(all[n].Points, points...)
		}
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return labels.Compare(names[a], names[b]) })
	sorted := make([]Line, len(all))
	for i, n := range order {
		sorted[i] = all[n]
	}
	return sorted
}

// get returns an answer that is kept, and how often samples had come late by then, which put takes.
func (k *segments) get(one segment) (lines []Line, late int, kept bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lines, kept = k.kept[one]
	return lines, k.late, kept
}

// forget drops what a sample of that time, which came late, may have changed: each step looks back from itself.
func (k *segments) forget(since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late++
	k.oldest = slices.DeleteFunc(k.oldest, func(one segment) bool {
		if one.last < since.UnixMilli() {
			return false
		}
		k.points -= size(k.kept[one])
		delete(k.kept, one)
		return true
	})
}

// put keeps an answer, unless samples came late while it was made; the oldest go when they are too many.
func (k *segments) put(one segment, lines []Line, late int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if late != k.late {
		return
	}
	if k.kept == nil {
		k.kept = map[segment][]Line{}
	}
	if _, there := k.kept[one]; there {
		return
	}
	k.kept[one], k.oldest = lines, append(k.oldest, one)
	k.points += size(lines)
	for k.points > mostPoints && len(k.oldest) > 0 {
		k.points -= size(k.kept[k.oldest[0]])
		delete(k.kept, k.oldest[0])
		k.oldest = k.oldest[1:]
	}
}

// size counts points; an answer of none counts too.
func size(lines []Line) int {
	n := 1
	for _, l := range lines {
		n += cmp.Or(len(l.Points), 1)
	}
	return n
}
