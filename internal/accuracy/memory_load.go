package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"plimsoll/engine"
	"plimsoll/load"
)

// work is what a server did between two moments, counted at these: no time is in it, so that a busy machine does not falsify it.
type work struct {
	reads      int64 // pages
	requests   int64 // of pages, in memory or not
	operations int64
	took       time.Duration
	pool       int64 // pages
	held       int64 // pages of them with data, at the end
	settled    bool  // of a warm-up: pages read for an operation no longer fell at its end
}

// each is how many pages were read for an operation.
func (s work) each() float64 { return float64(s.reads) / float64(max(s.operations, 1)) }

// turnovers is how many times over the pool was read.
func (s work) turnovers() float64 { return float64(s.reads) / float64(max(s.pool, 1)) }

const longestWarm = 10 * time.Minute

// warm tells of a warm-up that what the pool holds is what the load asks for, and not what was there before: more pages than it holds came,
// or no fewer are read for an operation as time goes on.
func (s work) warm() bool { return s.turnovers() >= 1.5 || s.settled }

// driven runs the load, warms the server up by it, and calls look with what the warm-up was like. One load does both, so that what moves
// on through the data goes on moving. The load ends when look returns.
func (l *memoryLab) driven(ctx context.Context, seed uint64, look func(ctx context.Context, warm work, since func() (work, error)) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var operations atomic.Int64
	connect := l.work.Connect(l.db, seed)
	counted := func(ctx context.Context, worker int) (load.Client, error) {
		c, err := connect(ctx, worker)
		return &countedClient{c, &operations}, err
	}
	loaded := make(chan error, 1)
	go func() {
		_, err := load.Run(ctx, load.Spec{Operations: l.work.Operations(), Connections: 8}, counted, func(load.Second) {})
		loaded <- err
	}()
	looked := func() error {
		if err := l.worked(ctx, &operations); err != nil {
			return err
		}
		since, err := l.from(ctx, &operations)
		if err != nil {
			return err
		}
		var reads settling
		warm, err := until(ctx, since, func(s work) bool {
			s.settled = reads.settled(s)
			return s.took >= l.warm && (s.warm() || s.took >= longestWarm)
		})
		warm.settled = reads.settled(warm)
		if err != nil {
			return err
		}
		if since, err = l.from(ctx, &operations); err != nil {
			return err
		}
		return look(ctx, warm, since)
	}()
	stop()
	if err := <-loaded; err != nil && !errors.Is(err, context.Canceled) {
		return errors.Join(err, looked)
	}
	return looked
}

// worked waits until so many operations were done that they no longer read what Prepare wrote, but what operations like them did.
func (l *memoryLab) worked(ctx context.Context, operations *atomic.Int64) error {
	since, err := l.from(ctx, operations)
	if err != nil {
		return err
	}
	_, err = until(ctx, since, func(s work) bool { return s.operations >= l.operations || s.took >= longestWarm })
	return err
}

// from counts from now on.
func (l *memoryLab) from(ctx context.Context, operations *atomic.Int64) (func() (work, error), error) {
	began := time.Now()
	first, err := l.db.(engine.PageCaching).PageCache(ctx)
	done := operations.Load()
	return func() (work, error) {
		now, err := l.db.(engine.PageCaching).PageCache(ctx)
		return work{now.Read - first.Read, now.Requests - first.Requests, operations.Load() - done, time.Since(began), now.Pages, now.Data, false}, err
	}, err
}

// until waits for a stretch to be as it should.
func until(ctx context.Context, since func() (work, error), enough func(work) bool) (work, error) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		s, err := since()
		if err != nil || enough(s) {
			return s, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return s, context.Cause(ctx)
		}
	}
}

// countedClient counts operations as they are done.
type countedClient struct {
	load.Client
	done *atomic.Int64
}

func (c *countedClient) Do(ctx context.Context, operation int) error {
	err := c.Client.Do(ctx, operation)
	c.done.Add(1)
	return err
}
