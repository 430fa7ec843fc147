package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/engine"
)

// span is from when until when something went on.
type span struct{ from, to time.Time }

func (s span) overlaps(t span) bool { return s.to.After(t.from) && s.from.Before(t.to) }

// busyAskers are enough to keep a server with one processor busy.
const busyAskers = 4

// probeEvery is how often a question is asked whose waiting is measured; one that comes late because the one before waited counts from when it was due.
const probeEvery = 2 * time.Millisecond

// selects are a load of point selects that goes on until it is ended.
type selects struct {
	sessions []engine.Session
	done     atomic.Int64 // by those that ask as fast as they can
	probes   []span       // questions that were to be asked at fixed moments, from these on; to be read once the load has ended
	ending   atomic.Bool
	failed   chan error // of the first that failed
	all      sync.WaitGroup
}

// beginSelects begins to read rows at random.
func beginSelects(ctx context.Context, target engine.Target, rows, askers int) (_ *selects, err error) {
	l := &selects{failed: make(chan error, askers+1)}
	if l.sessions, err = connect(ctx, target, askers+1); err != nil {
		return nil, err
	}
	var looks []engine.Statement
	for _, s := range l.sessions {
		look, err := s.Prepare(ctx, "SELECT id FROM items WHERE id = ?")
		if err != nil {
			return nil, errors.Join(err, closeAll(l.sessions))
		}
		looks = append(looks, look)
	}
	look := func(n int, random *rand.Rand) bool {
		err := looks[n].Exec(ctx, []engine.Value{engine.Int(random.Int64N(int64(rows)) + 1)}, nil)
		if err != nil {
			l.failed <- err
		}
		return err == nil
	}
	for n := range askers {
		l.all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1)) //nolint:gosec // a load, not a secret
			for !l.ending.Load() && look(n, random) {
				l.done.Add(1)
			}
		})
	}
	l.all.Go(func() {
		random := rand.New(rand.NewPCG(uint64(askers), 1)) //nolint:gosec // a load, not a secret
		tick := time.NewTicker(probeEvery / 2)
		defer tick.Stop()
		for due := time.Now(); !l.ending.Load(); due = due.Add(probeEvery) {
			for time.Now().Before(due) {
				<-tick.C
			}
			if !look(askers, random) {
				return
			}
			l.probes = append(l.probes, span{due, time.Now()})
		}
	})
	return l, nil
}

// end ends the load. It is safe to call twice.
func (l *selects) end() error {
	if l.ending.Swap(true) {
		return nil
	}
	l.all.Wait()
	return errors.Join(l.failure(), closeAll(l.sessions))
}

// failure of a select, if there was one.
func (l *selects) failure() error {
	select {
	case err := <-l.failed:
		return err
	default:
		return nil
	}
}

// waits are those of the probes that were under way in one of the spans.
func (l *selects) waits(spans []span) (waits []time.Duration) {
	for _, p := range l.probes {
		if slices.ContainsFunc(spans, p.overlaps) {
			waits = append(waits, p.to.Sub(p.from))
		}
	}
	return waits
}

// longest is for each of the spans the longest wait of a probe in it.
func (l *selects) longest(spans []span) (waits []time.Duration) {
	for _, s := range spans {
		waits = append(waits, quantile(l.waits([]span{s}), 1))
	}
	return waits
}
