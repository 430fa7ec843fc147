package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
)

// moveLog is what is seen of the partitions that a database moves between its leaves while a change is made. The database shows
// no time of day and keeps no record, so it is asked all the time; each command of a rebalance says how long it has run.
type moveLog struct {
	mu   sync.Mutex
	seen []*movement // in the order in which they were first seen
}

// movement is one command of a rebalance.
type movement struct {
	engine.Move
	from, to time.Time
	gone     bool // it is not shown any more: the next of this name is another
}

// askEvery is how often: so much later than it was, at most, is the end of a move dated.
const askEvery = 250 * time.Millisecond

// follow asks until ctx ends. It returns the last error if nothing was ever answered.
func (s *moveLog) follow(ctx context.Context, db engine.Sharded) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	answered, last := false, error(nil)
	for {
		moves, err := db.Moves(ctx)
		if err == nil {
			answered = true
			s.take(moves, time.Now())
		} else if ctx.Err() == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if answered {
				return nil
			}
			return last
		}
	}
}

// take books what is shown at a moment.
func (s *moveLog) take(moves []engine.Move, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := map[*movement]bool{}
	for _, m := range moves {
		if m.Status == "scheduled" || m.Status == "cancelled" {
			continue
		}
		is := s.find(m)
		if is == nil {
			is = &movement{Move: m, from: now.Add(-m.Took)}
			is.to = now
			s.seen = append(s.seen, is)
		}
		if is.Status == "running" { // until now at least; if it has ended, since the last time that it was asked
			is.to = now
		}
		is.Move = m
		shown[is] = true
	}
	for _, is := range s.seen {
		if !shown[is] && !is.gone {
			is.gone = true
			if is.Status == "running" {
				is.to = now
			}
		}
	}
}

func (s *moveLog) find(m engine.Move) *movement {
	for _, is := range s.seen {
		if !is.gone && is.Database == m.Database && is.Action == m.Action && is.Ordinal == m.Ordinal && is.Target == m.Target {
			return is
		}
	}
	return nil
}

// streams are the moves as transfers between leaves: by copy, promote, drop and the like.
func (s *moveLog) streams() []engine.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []engine.Stream
	for i, is := range s.seen {
		kind, _, _ := strings.Cut(strings.ToLower(is.Action), " ")
		all = append(all, engine.Stream{
			Node: is.Target, ID: fmt.Sprint(i), Operation: kind, Status: "success", Began: is.from, Updated: is.to,
		})
	}
	return all
}

// shuffling watches the moves of a database with leaves until stop is called, which returns them; of any other there are none.
func (d *cellRun) shuffling(ctx context.Context) (stop func() []engine.Stream) {
	sharded, is := engine.As[engine.Sharded](d.db)
	if !is {
		return func() []engine.Stream { return nil }
	}
	asking, end := context.WithCancel(ctx)
	var s moveLog
	ended := make(chan error, 1)
	go func() { ended <- s.follow(asking, sharded) }()
	return func() []engine.Stream {
		end()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			d.note("Plimsoll could not read when partitions moved: %v.", err)
		}
		return s.streams()
	}
}
