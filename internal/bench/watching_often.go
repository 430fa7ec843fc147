package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

// watchOften says what servers under load lose to a watch that reads them many times as often as usual. Of that a usual watch costs the share
// that it reads: what it costs by itself is less than what comes and goes on a machine, and cannot be seen beside it.
func watchOften(ctx context.Context, o options) error {
	return onBoth(ctx, o.oftenOn)
}

const (
	oftenEvery = 50 * time.Millisecond // a reading of the second
	oftenPairs = 5                     // pairs of slices for each of o.pairs
)

func (o options) oftenOn(ctx context.Context, spec lab.Spec) (err error) {
	target, server, end, err := o.alone(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	w, err := watchItself(ctx, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	m, err := overheadOf(ctx, server, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.counters.(engine.Session).Close()) }()

	pairs := oftenPairs * o.pairs
	load, err := goOn(ctx, sysbench{target}, 10*time.Second, lengthOf(pairs))
	if err != nil {
		return err
	}
	defer load.end()
	err = inSlices(ctx, pairs, orderSeed, func(ctx context.Context, with bool) error {
		if !with {
			return errors.Join(m.counted(ctx, false), load.goesOn())
		}
		reading, stop := context.WithCancel(ctx)
		ended := make(chan error)
		go func() { ended <- w.run(reading) }()
		err := m.counted(ctx, true)
		stop()
		return errors.Join(err, <-ended, load.goesOn())
	})
	if err != nil {
		return err
	}
	m.printOften(spec.Product, w)
	return nil
}

func overheadOf(ctx context.Context, server serverProcess, target engine.Target) (*overhead, error) {
	sessions, err := server.watchers(ctx)
	if err != nil {
		return nil, err
	}
	own, err := os.FindProcess(os.Getpid())
	if err != nil {
		return nil, err
	}
	counters, err := connect(ctx, target, 1)
	if err != nil {
		return nil, err
	}
	itself := watchedServer{watchedProcess: watchedProcess{&exec.Cmd{Process: own}}, sessions: sessions}
	return &overhead{server: server, watch: itself, counters: counters[0].(engine.Tabular)}, nil
}

func (m *overhead) printOften(product string, w *ownWatch) {
	often := float64(w.readings) / w.ran.Seconds()
	r, p := m.throughput.ratio(), m.perProcessor.ratio()
	less := func(ratio float64) float64 { return 100 * (1 - ratio) / often }
	fmt.Printf("%s with a processor of its own, of which it used %.0f %%, under sysbench at %d connections (%.0f queries a second), read %.1f times a second; %d pairs of slices of %s:\n\n",
		product, m.without.share(m.without.busy), connections, float64(m.without.load)/m.without.took.Seconds(), often, len(m.throughput.with), slice)
	fmt.Printf("- Throughput, over that without: %.4f (95 %%: %.4f to %.4f). So a watch that reads once a second costs **%.2f %%** of it (%.2f to %.2f). Goal: at most 1 %%.\n",
		r.Value, r.Low, r.High, less(r.Value), less(r.High), less(r.Low))
	fmt.Printf("- Queries for each second of the server's processor time, over without: %.4f (%.4f to %.4f), so %.2f %% (%.2f to %.2f).\n", p.Value, p.Low, p.High, less(p.Value), less(p.High), less(p.Low))
	fmt.Printf("- The server took %.2f %% of a core for the two sessions, so **%.2f %%** for those of a watch that reads once a second. Goal: 0.5 %%.\n",
		m.with.share(m.with.sessions), m.with.share(m.with.sessions)/often)
	fmt.Printf("- Of %d readings the watch left out %d because the server was slow to answer it.%s\n\n", w.readings, w.left,
		readings{all: float64(w.readings), paused: float64(w.left)}.doubt())
}

// ownWatch reads a server from this process.
type ownWatch struct {
	readers        []watch.Collector
	readings, left int
	ran            time.Duration
}

// watchItself is a watch that has read everything once.
func watchItself(ctx context.Context, target engine.Target) (*ownWatch, error) {
	e, err := catalog.EngineOf(target)
	if err != nil {
		return nil, err
	}
	w := &ownWatch{readers: collect.MySQL(func(ctx context.Context) (engine.Session, error) { return e.(engine.Dialer).Dial(ctx, target) }, 0)}
	if err := w.read(ctx, watch.TenMinutes); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// run reads as the Watcher does, at a faster clock, until ctx ends.
func (w *ownWatch) run(ctx context.Context) error {
	tick := time.NewTicker(oftenEvery)
	defer tick.Stop()
	begun := time.Now()
	defer func() { w.ran += time.Since(begun) }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		w.readings++
		level := watch.Second
		switch {
		case w.readings%600 == 0:
			level = watch.TenMinutes
		case w.readings%60 == 0:
			level = watch.Minute
		case w.readings%10 == 0:
			level = watch.TenSeconds
		}
		if err := w.read(context.WithoutCancel(ctx), level); err != nil { // in the midst of a reading its connections would be lost
			return err
		}
	}
}

func (w *ownWatch) read(ctx context.Context, level watch.Level) error {
	left := 0
	for _, r := range w.readers {
		reading, err := r.Collect(ctx, level, time.Now())
		if err != nil {
			return err
		}
		if reading.Missed > watch.Second || reading.Asked != watch.Everything {
			left = 1
		}
	}
	w.left += left
	return nil
}

func (w *ownWatch) close() (err error) {
	for _, r := range w.readers {
		err = errors.Join(err, r.Close())
	}
	return err
}
