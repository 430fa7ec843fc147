package main

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/memory"
)

//go:embed memory/*.yaml
var memoryFiles embed.FS

// memoryCase is a workload on a server whose reads are predicted at other sizes, and then measured there.
type memoryCase struct {
	name       string
	product    string
	workload   string // of a file in memory, or of the catalog with parameters
	parameters string
	wide       bool  // rows eight times as wide: where a page has 64 KiB, some eight rows fill it
	pool       int64 // bytes
	config     map[string]string
	sql        bool          // lists by SQL and not by file
	budget     float64       // share of the time that may go into lists; 0: 0.15
	look       time.Duration // at least
	warm       time.Duration // at least
	operations int64         // to be done before the warm-up, where operations read what earlier ones wrote
	measure    time.Duration // at least
	counted    int64         // operations of the truth, at least
	sizes      []float64     // times the pool
	knee       bool          // look for the knee too
	grown      []float64     // times the pool, after it is resized while the load goes on: how long until it holds as much
}

// severalInstances has a pool of several instances turn over in minutes. MySQL makes one instance of less than 1 GiB, and so that a pool of 1 GiB has not
// many more pages than one of 128 MiB, they are of 64 KiB. Of the pool as many pages are kept free as servers keep of 1 GiB of pages of 16 KiB.
var severalInstances = map[string]string{
	"innodb_buffer_pool_instances": "4", "innodb_page_size": "65536", "innodb_lru_scan_depth": "256",
	"innodb_doublewrite": "OFF", // to load the data faster: it reads nothing
}

// otherSizes are those at which the goals are stated.
var otherSizes = []float64{0.5, 0.75, 1.5, 2, 2.5}

// memoryOutcome is what was predicted and what came.
type memoryOutcome struct {
	memoryCase

	curve  advise.Curve
	truth  map[float64]work // by times the pool
	cold   map[float64]bool // where the server was not warm then
	filled []memoryWarmth
	now    work // while the server was looked at
	looked *memory.Observation
}

func (c memoryCase) settings(times float64) map[string]string {
	s := map[string]string{
		"innodb_buffer_pool_size": fmt.Sprint(c.bytes(times)), "innodb_flush_method": "O_DIRECT",
		"innodb_buffer_pool_load_at_startup": "OFF", "innodb_buffer_pool_dump_at_shutdown": "OFF", "innodb_buffer_pool_chunk_size": "1048576",
		// A small pool turns over in seconds: a page must prove itself sooner than in a large one.
		"innodb_old_blocks_time": "2", "innodb_flush_log_at_trx_commit": "2", "log_bin": "OFF", "sync_binlog": "0",
	}
	if c.product == "mariadb" {
		s["innodb_log_file_size"] = "268435456"
	} else {
		s["innodb_redo_log_capacity"] = "536870912"
	}
	maps.Copy(s, c.config)
	return s
}

// bytes is a size of the pool.
func (c memoryCase) bytes(times float64) int64 { return int64(times*float64(c.pool)) >> 20 << 20 }

// predictAndMeasure looks at the server at its size, and then runs it at the others.
func (c memoryCase) predictAndMeasure(ctx context.Context, home string, seed uint64, say func(string, ...any)) (_ *memoryOutcome, err error) {
	l, err := c.start(ctx, home)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	out := &memoryOutcome{memoryCase: c, truth: map[float64]work{}, cold: map[float64]bool{}}
	if err := l.resized(ctx, 1); err != nil {
		return nil, err
	}
	if err := l.lookAt(ctx, out, seed+1); err != nil {
		return nil, err
	}
	say("%s: %.4f reads an operation, %d intervals in %.1f turnovers and %s, knee at %d MiB, %+v", c.name, out.now.each(), len(out.looked.Intervals),
		out.now.turnovers(), out.now.took.Round(time.Second), out.curve.Knee>>20, out.looked.Cost)
	for _, w := range out.filled {
		say("%s grown to %.2f: full after %.3g s, predicted %.3g (%.3g to %.3g): %+.1f %%", c.name, w.Times, w.Came, w.Predicted, w.Low, w.High, 100*w.off())
	}
	for _, times := range append(c.sizes, out.besideTheKnee()...) {
		if err := l.resized(ctx, times); err != nil {
			return nil, err
		}
		truth, warm, err := l.measured(ctx, seed+2)
		if err != nil {
			return nil, err
		}
		out.truth[times], out.cold[times] = truth, !warm
		if p, there := out.at(times); there {
			say("%s %.2f: truth %.4f (%+v) predicted %.4f [%.4f %.4f] model %.4f %s %s: %+.1f %%", c.name, times, out.truth[times].each(), out.truth[times], out.perOp(p.Reads),
				out.perOp(p.Low), out.perOp(p.High), out.perOp(p.Model), p.Source, p.Doubt, 100*(out.perOp(p.Reads)/out.truth[times].each()-1))
		} else {
			say("%s %.2f, beside the knee: %.1f %% of today's reads (%+v)", c.name, times, 100*out.truth[times].each()/out.now.each(), out.truth[times])
		}
	}
	return out, nil
}

// besideTheKnee is a tenth less and a tenth more memory than where the knee was predicted, in times the pool.
func (o *memoryOutcome) besideTheKnee() []float64 {
	if !o.knee || o.curve.Knee == 0 {
		return nil
	}
	at := float64(o.curve.Knee) / float64(o.pool)
	return []float64{0.9 * at, 1.1 * at}
}

// perOp makes pages read for an operation of pages read a second.
func (o *memoryOutcome) perOp(reads float64) float64 { return reads / o.curve.Now.Reads * o.now.each() }

func (o *memoryOutcome) at(times float64) (advise.Point, bool) {
	for _, p := range o.curve.Points {
		if p.Bytes == o.bytes(times) {
			return p, true
		}
	}
	return advise.Point{}, false
}

const (
	lookTurnovers = 8               // the pool is read so many times over while the server is looked at
	longestLook   = 5 * time.Minute // as advise memory looks by default
	enoughReads   = 10_000          // of the truth: chance makes them 1 % more or fewer
	longestTruth  = 30 * time.Second
	// Where hardly a page is read, the truth is counted for longer.
	fewReads    = 1_000 // chance makes them 3 % more or fewer
	longestRare = 3 * time.Minute
)

// lookAt looks at the server while the load goes on.
func (l *memoryLab) lookAt(ctx context.Context, out *memoryOutcome, seed uint64) error {
	err := l.driven(ctx, seed, func(ctx context.Context, warm work, since func() (work, error)) (err error) {
		turnover := time.Duration(float64(warm.took) / max(warm.turnovers(), 0.01))
		o := memory.Options{For: min(max(l.look, lookTurnovers*turnover), longestLook), Turnovers: lookTurnovers, Most: longestLook, Budget: cmp.Or(l.budget, 0.15), MaxStall: 2 * time.Second}
		if !l.sql {
			o.Files = l.files.Machine
		}
		if out.looked, err = memory.Observe(ctx, l.db, o); err != nil {
			return err
		}
		if out.now, err = since(); err != nil || len(l.grown) == 0 {
			return err
		}
		out.filled, err = l.grow(ctx, out, seed, since)
		return err
	})
	if err != nil {
		return err
	}
	sizes := []int64{l.pool}
	for _, times := range l.sizes {
		sizes = append(sizes, l.bytes(times))
	}
	out.curve = memory.Predict(out.looked.Intervals, out.looked.Cache, out.looked.DataPages(), sizes, seed)
	return nil
}

// measured is what the server reads at the size that it has, and whether it was warm.
func (l *memoryLab) measured(ctx context.Context, seed uint64) (s work, warm bool, err error) {
	err = l.driven(ctx, seed, func(ctx context.Context, before work, since func() (work, error)) error {
		warm = before.warm()
		s, err = until(ctx, since, func(s work) bool {
			return s.took >= l.measure && (s.operations >= l.counted || s.took >= longestRare) && (s.reads >= enoughReads || s.took >= longestTruth && s.reads >= fewReads || s.took >= longestRare)
		})
		return err
	})
	return s, warm, err
}
