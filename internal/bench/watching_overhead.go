package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/watch/store"
)

// watchOverhead says what servers under load feel of being watched. One run of sysbench goes on all the time, and the watch beside it is
// stopped (SIGSTOP) and let go on in slices. What the server's threads of the watch's sessions take, and the watch's process, is counted beside.
//
// A stopped watch saves nothing up: it counts its readings, so that what it reads at every tenth or sixtieth reading does not fall due while it
// is stopped, and its clock keeps one tick. So it reads once at the moment at which it goes on, which is not counted, and then as usual.
func watchOverhead(ctx context.Context, o options) error {
	return onBoth(ctx, o.overheadOn)
}

const (
	watchedPairs = 20              // pairs of slices for each of o.pairs
	settling     = time.Second     // after the watch was stopped or goes on, not counted
	slice        = 3 * time.Second // counted after that
	unbroken     = time.Minute     // of the watch before it is stopped for the first time: a reading of each second, and one of the minute
	connections  = 8               // of sysbench, to a server with one processor
	orderSeed    = 231             // of the order of the slices
)

func (o options) overheadOn(ctx context.Context, spec lab.Spec) (err error) {
	target, server, end, err := o.alone(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	w, err := o.watchSettled(ctx, target, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.discard()) }()

	pairs := watchedPairs * o.pairs
	load, err := goOn(ctx, sysbench{target}, 20*time.Second, unbroken+lengthOf(pairs))
	if err != nil {
		return err
	}
	defer load.end()
	counters, err := connect(ctx, target, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll(counters)) }()
	m := overhead{server: server, watch: w, counters: counters[0].(engine.Tabular)}

	before, err := m.count(ctx)
	if err != nil {
		return err
	}
	if err := wait(ctx, unbroken); err != nil {
		return err
	}
	after, err := m.count(ctx)
	if err != nil {
		return err
	}
	usual := after.since(before)

	err = inSlices(ctx, pairs, orderSeed, func(ctx context.Context, with bool) error {
		if err := m.slice(ctx, with); err != nil {
			return err
		}
		return load.goesOn()
	})
	if err != nil {
		return err
	}
	if err := w.stop(); err != nil {
		return err
	}
	read, err := w.readings(ctx)
	if err != nil {
		return err
	}
	m.print(spec.Product, usual, read)
	return nil
}

// overhead is what is measured of a server.
type overhead struct {
	server   serverProcess
	watch    watchedServer
	counters engine.Tabular

	throughput, perProcessor paired // queries by elapsed time, and by the server's processor time
	with, without            counts // sums
}

// slice lets the watch go on, or stops it, and counts.
func (m *overhead) slice(ctx context.Context, with bool) error {
	if err := m.watch.goOn(ctx, with); err != nil {
		return err
	}
	return m.counted(ctx, with)
}

// counted counts for the length of a slice, once it has settled.
func (m *overhead) counted(ctx context.Context, with bool) error {
	if err := wait(ctx, settling); err != nil {
		return err
	}
	before, err := m.count(ctx)
	if err != nil {
		return err
	}
	if err := wait(ctx, slice); err != nil {
		return err
	}
	after, err := m.count(ctx)
	if err != nil {
		return err
	}
	c := after.since(before)
	if !with && c.sessions > 0 {
		return fmt.Errorf("the server worked %v for the watch while it was stopped", c.sessions)
	}
	of := analyze.Second{Length: c.took}
	of.Done = c.load
	m.throughput.add(with, of)
	of.Length = c.busy
	m.perProcessor.add(with, of)
	if with {
		m.with = m.with.plus(c)
	} else {
		m.without = m.without.plus(c)
	}
	return nil
}

// counts are of the whole time until a moment, or between two moments.
type counts struct {
	at                    time.Time
	took                  time.Duration // between two moments
	load, others          int64         // queries of the load, and those of all others
	busy, sessions, watch time.Duration // of a processor: the whole server, its threads of the watch's sessions, the watch
}

func (m *overhead) count(ctx context.Context) (c counts, err error) {
	rows, err := m.counters.Table(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_stmt_execute', 'Questions')")
	if err != nil {
		return c, fmt.Errorf("count queries: %w", err)
	}
	c.at = time.Now()
	status := map[string]int64{}
	for _, row := range rows {
		n, err := strconv.ParseInt(row["Value"], 10, 64)
		if err != nil {
			return c, fmt.Errorf("count queries: %w", err)
		}
		status[row["Variable_name"]] = n
	}
	if len(status) != 2 {
		return c, fmt.Errorf("count queries: the server showed %v", rows)
	}
	c.load, c.others = status["Com_stmt_execute"], status["Questions"]-status["Com_stmt_execute"] // the watch prepares nothing
	var err1, err2, err3 error
	c.busy, err1 = m.server.used()
	c.sessions, err2 = busy(m.watch.sessions)
	c.watch, err3 = busy(m.watch.threads())
	return c, errors.Join(err1, err2, err3)
}

func (c counts) since(b counts) counts {
	return counts{
		took: c.at.Sub(b.at), load: c.load - b.load, others: c.others - b.others - 1, // the question about the counters
		busy: c.busy - b.busy, sessions: c.sessions - b.sessions, watch: c.watch - b.watch,
	}
}

func (c counts) plus(d counts) counts {
	return counts{took: c.took + d.took, load: c.load + d.load, others: c.others + d.others, busy: c.busy + d.busy, sessions: c.sessions + d.sessions, watch: c.watch + d.watch}
}

// share is a processor time as a share of the elapsed time, in percent.
func (c counts) share(of time.Duration) float64 { return 100 * of.Seconds() / c.took.Seconds() }

func (m *overhead) print(product string, usual counts, read readings) {
	r, p := m.throughput.ratio(), m.perProcessor.ratio()
	fmt.Printf("%s with a processor of its own, of which it used %.0f %%, under sysbench at %d connections (%.0f queries a second); %d pairs of slices of %s of one run, order by seed %d:\n\n",
		product, m.without.share(m.without.busy), connections, float64(m.without.load)/m.without.took.Seconds(), len(m.throughput.with), slice, orderSeed)
	fmt.Printf("- Throughput while it is watched, over without: **%.4f** (95 %%: %.4f to %.4f; a pair's ratio deviates by %.1f %%). Goal: 0.99 and more.\n", r.Value, r.Low, r.High, 100*m.throughput.differ())
	fmt.Printf("- Queries for each second of the server's processor time, over without: %.4f (%.4f to %.4f; %.1f %%).\n", p.Value, p.Low, p.High, 100*m.perProcessor.differ())
	fmt.Printf("- The server took **%.2f %%** of a core for the watch's two sessions, and the watch's own process **%.2f %%**. Goal: 0.5 %%. In the unbroken minute before the slices: %.2f %% and %.2f %%.\n",
		m.with.share(m.with.sessions), m.with.share(m.with.watch), usual.share(usual.sessions), usual.share(usual.watch))
	fmt.Printf("- Questions of the watch a second: %.1f; in the unbroken minute: %.1f; while it was stopped: %.1f.\n",
		m.with.perSecond(), usual.perSecond(), m.without.perSecond())
	fmt.Printf("- Of %.0f readings the watch left out %.0f because the server was slow to answer it, and %.0f got no answer.%s\n\n", read.all, read.paused, read.failed, read.doubt())
}

func (c counts) perSecond() float64 { return float64(c.others) / c.took.Seconds() }

// watchSettled is a watch of the server that has read everything once.
func (o options) watchSettled(ctx context.Context, target engine.Target, server serverProcess) (watchedServer, error) {
	folder, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return watchedServer{}, err
	}
	process, err := o.watchProcess(ctx, folder, target, "")
	if err != nil {
		return watchedServer{}, errors.Join(err, os.RemoveAll(folder))
	}
	w := watchedServer{process, folder, nil}
	w.sessions, err = server.watchers(ctx)
	if err != nil {
		return watchedServer{}, errors.Join(err, w.discard())
	}
	return w, nil
}

// watchedServer is a watch of one server.
type watchedServer struct {
	watchedProcess
	folder   string
	sessions []string // the server's threads that answer it, by their files in /proc
}

// longestReading is how long to wait at most for the end of a reading.
const longestReading = 2 * time.Second

// goOn lets the watch go on, or stops it where it is. It is stopped between two readings: in the midst of one its time limit would pass while it
// is stopped, and it would have to connect anew.
func (w watchedServer) goOn(ctx context.Context, on bool) error {
	if on {
		return w.cmd.Process.Signal(syscall.SIGCONT)
	}
	const rest = 100 * time.Millisecond
	var before time.Duration
	for began := time.Now(); time.Since(began) < longestReading; {
		now, err := busy(w.sessions)
		if err != nil {
			return fmt.Errorf("the watch has lost a session: %w", err)
		}
		if now == before {
			break
		}
		before = now
		if err := wait(ctx, rest); err != nil {
			return err
		}
	}
	return w.cmd.Process.Signal(syscall.SIGSTOP)
}

// stop ends it, also one that is stopped: that would not hear that it is to end.
func (w watchedServer) stop() error {
	_ = w.cmd.Process.Signal(syscall.SIGCONT) // of one that ended, its status tells
	return w.watchedProcess.stop()
}

// discard ends it if it still runs, and removes what it kept.
func (w watchedServer) discard() error {
	var err error
	if w.cmd.ProcessState == nil {
		err = w.stop()
	}
	return errors.Join(err, os.RemoveAll(w.folder))
}

// readings are how often the watch was to read the server.
type readings struct{ all, paused, failed float64 }

// doubt is what to say of a measurement of a watch that did not read all that it was to read.
func (r readings) doubt() string {
	if r.paused+r.failed > r.all/50 {
		return " **These figures do not count: a watch that reads less costs less.**"
	}
	return ""
}

// readings asks the series that the watch kept, once it has ended.
func (w watchedServer) readings(ctx context.Context) (r readings, err error) {
	kept, err := store.Open(filepath.Join(w.folder, "home", "watch", "series"), store.Options{})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	for expr, into := range map[string]*float64{
		"count_over_time(up[1d])": &r.all, "sum_over_time(plimsoll_watch_paused[1d])": &r.paused, "count_over_time(up[1d]) - sum_over_time(up[1d])": &r.failed,
	} {
		now := time.Now()
		lines, err := kept.Query(ctx, expr, now, now, time.Second)
		if err != nil {
			return r, err
		}
		if len(lines) != 1 || len(lines[0].Points) != 1 {
			return r, fmt.Errorf("the watch kept no readings: %s has %d series", expr, len(lines))
		}
		*into = lines[0].Points[0].Value
	}
	return r, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
