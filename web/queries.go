package web

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/watch/store"
)

// queries answers what all who look at the same curves at the same time ask, and asks it once. The points of a curve stand at multiples of its step, so a
// curve of a day is the same for minutes.
type queries struct {
	mu   sync.Mutex
	kept map[query]*queried
}

type query struct {
	expr     string
	from, to time.Time // at multiples of the step
	step     time.Duration
}

// queried is a query that is asked, or was.
type queried struct {
	at    time.Time     // when it was answered; zero: not yet
	over  chan struct{} // closed when it is answered
	lines []store.Line
	err   error
}

const (
	queriedFor  = 3 * time.Second // what was read meanwhile is on the curve after that
	mostQueries = 100
)

// query evaluates an expression at every step between two times.
func (s *Server) query(ctx context.Context, expr string, from, to time.Time, step time.Duration) ([]store.Line, error) {
	what := query{expr, from.UTC(), to.UTC(), step}
	for {
		one, first := s.queries.join(what, s.Now())
		if first {
			return s.ask(ctx, what, one)
		}
		select {
		case <-one.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if one.err == nil {
			return slices.Clone(one.lines), nil
		} // maybe who asked went away: this one asks itself
	}
}

func (s *Server) ask(ctx context.Context, what query, one *queried) ([]store.Line, error) {
	defer func() { s.queries.answered(what, one, s.Now()) }()
	one.err = errors.New("the query was not answered") // should it panic
	one.lines, one.err = s.Watch.Query(ctx, what.expr, what.from, what.to, what.step)
	return slices.Clone(one.lines), one.err
}

// old tells that what was answered is not on the curve any more.
func (q *queried) old(now time.Time) bool { return !q.at.IsZero() && now.Sub(q.at) >= queriedFor }

// join returns the query if it is being asked, or was answered just now; else whoever joins it first is to ask it.
func (q *queries) join(what query, now time.Time) (one *queried, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if one := q.kept[what]; one != nil && !one.old(now) {
		return one, false
	}
	one = &queried{over: make(chan struct{})}
	if q.kept == nil {
		q.kept = map[query]*queried{}
	}
	maps.DeleteFunc(q.kept, func(_ query, one *queried) bool { return one.old(now) })
	if len(q.kept) < mostQueries {
		q.kept[what] = one
	}
	return one, true
}

// answered lets those go on who wait for it. An error is nobody else's.
func (q *queries) answered(what query, one *queried, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one.at = now
	if one.err != nil && q.kept[what] == one {
		delete(q.kept, what)
	}
	close(one.over)
}
