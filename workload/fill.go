package workload

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"plimsoll/engine"
	"plimsoll/workload/random"
)

// fill inserts the rows of all sources, over several sessions side by side: each takes shares of a table in the order of
// its primary key.
func fill(ctx context.Context, db engine.Database, sources []Source, seed uint64, p *meter) error {
	if len(sources) == 0 {
		return nil
	}
	shares := make(chan share)
	sessions := sessions()
	if slices.ContainsFunc(sources, func(s Source) bool { return s.Most == 1 }) {
		sessions = oneByOne
	}
	return sideBySide(ctx, sessions, func(ctx context.Context) error {
		defer close(shares)
		for i, source := range sources {
			for _, s := range cut(source, sessions) {
				s.seed = seed ^ uint64(i)<<32
				select {
				case shares <- s:
				case <-ctx.Done():
					return nil
				}
			}
		}
		return nil
	}, func(ctx context.Context) error {
		session, err := db.Session(ctx)
		if err != nil {
			return err
		}
		f := filler{db, session}
		defer func() { _ = f.session.Close() }()
		for s := range shares {
			if err := s.fill(ctx, &f, p); err != nil {
				return fmt.Errorf("fill %s: %w", s.Table, err)
			}
		}
		return nil
	})
}

// sessions is how many sessions fill side by side: a server has work for more than one even on two cores, while one waits
// for its disk.
func sessions() int { return min(max(runtime.GOMAXPROCS(0), 4), 16) }

// oneByOne is how many sessions fill where a statement inserts one row: each waits for the round trip of every row.
const oneByOne = 64

// share is a range of a source's units.
type share struct {
	Source
	from, to int64
	seed     uint64
}

// cut divides a source into as many shares as there are sessions.
func cut(s Source, sessions int) []share {
	n := min(int64(sessions), s.Units)
	out := make([]share, n)
	for i := range n {
		out[i] = share{Source: s, from: s.Units * i / n, to: s.Units * (i + 1) / n}
	}
	return out
}

func (s share) fill(ctx context.Context, f *filler, p *meter) error {
	w := writer{filler: f, source: s.Source, meter: p}
	w.rows = Rows{most: s.Most, flush: func() { w.flush(ctx) }}
	add := s.New()
	for unit := s.from; unit < s.to && w.err == nil; unit++ {
		add(unit, random.New(s.seed, uint64(unit)), &w.rows)
	}
	w.flush(ctx)
	return w.close()
}

// writer sends rows with a prepared statement for as many as fit, and others for what is left over.
type writer struct {
	*filler
	source Source
	meter  *meter

	rows   Rows
	insert engine.Statement // of rows.full rows
	err    error
}

func (w *writer) flush(ctx context.Context) {
	if w.rows.count > 0 && w.err == nil {
		w.err = w.deliver(ctx)
	}
	w.rows.clear()
}

func (w *writer) send(ctx context.Context) error {
	statement := w.insert
	if w.rows.count != w.rows.full || statement == nil {
		var err error
		if statement, err = w.session.Prepare(ctx, w.source.Insert(w.rows.count)); err != nil {
			return err
		}
		if w.rows.full == 0 {
			w.rows.full, w.insert = w.rows.count, statement
		} else {
			defer free(statement)
		}
	}
	if err := statement.Exec(ctx, w.rows.values, nil); err != nil {
		return err
	}
	w.meter.add(int64(w.rows.count), w.source.Table)
	return nil
}

func (w *writer) close() error {
	if w.err == nil && w.insert != nil {
		free(w.insert)
	}
	return w.err
}

// free gives a statement's memory on the server back, where the engine can before the session ends.
func free(s engine.Statement) {
	if c, ok := s.(io.Closer); ok {
		_ = c.Close() // if the connection broke, the next call says so
	}
}

// sideBySide runs feed once and work so many times, and returns the first error, which ends the others.
func sideBySide(ctx context.Context, times int, feed, work func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	run := func(f func(context.Context) error) {
		all.Go(func() {
			if err := f(ctx); err != nil {
				cancel(err)
			}
		})
	}
	run(feed)
	for range times {
		run(work)
	}
	all.Wait()
	return context.Cause(ctx)
}

// meter adds up what several sessions did and tells it, one call at a time.
type meter struct {
	mu          sync.Mutex
	tell        Progress
	done, total int64
}

func (m *meter) add(n int64, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += n
	m.tell(m.done, max(m.done, m.total), what)
}
