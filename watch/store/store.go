// Package store keeps series on disk and answers PromQL about them. It is the only package that knows Prometheus' tsdb and promql,
// which promise no stable interface: they can be replaced here.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/compression"

	"plimsoll/hint"
	"plimsoll/watch"
)

// Options say how much is kept.
type Options struct {
	Age   time.Duration // 0: 15 days
	Bytes int64         // 0: no limit
	Log   *slog.Logger  // nil: nothing is logged
}

// Store is a folder of series. It is safe for concurrent use.
type Store struct {
	reader
	db       *tsdb.DB
	segments segments

	mu   sync.Mutex
	refs map[string]reference // of a series by its name and labels, as they came
}

// reference spares the index a look for a series that was written before.
type reference struct {
	ref    storage.SeriesRef
	labels labels.Labels
}

const (
	lookBack   = 5 * time.Minute // as Prometheus
	lateAtMost = 25 * time.Hour  // how late a sample may come: clouds publish theirs by minutes late, and a clock that ran a day ahead is put right
)

// Open opens the folder, which is made if it is not there. After a crash what was not written yet is missing; a damaged end of the
// log is cut off, and a damaged block put aside.
func Open(folder string, o Options) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of series: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	options := tsdb.DefaultOptions()
	options.RetentionDuration = cmp.Or(o.Age, 15*24*time.Hour).Milliseconds()
	options.MaxBytes = o.Bytes
	options.WALCompression = compression.Snappy
	options.WALSegmentSize = 16 << 20
	options.StripeSize = 1 << 10 // the default is for millions of series and takes 32 MB
	options.OutOfOrderTimeWindow = lateAtMost.Milliseconds()
	db, err := openPastDamage(folder, o.Log, options)
	if err != nil {
		return nil, hint.With(fmt.Errorf("open the series in %s: %w", folder, err), "if plimsoll serve or plimsoll watch records with this state folder already, its page shows the same, and plimsoll watch --once reads the present state without recording; otherwise stop the other process")
	}
	return &Store{reader: newReader(chunkwise{db}, o.Log), db: db, refs: map[string]reference{}}, nil
}

// Close writes what is only in memory and gives the folder back.
func (s *Store) Close() error {
	if err := errors.Join(s.engine.Close(), s.db.Close()); err != nil {
		return fmt.Errorf("close the series: %w", err)
	}
	return nil
}

// Ended is the value that ends a series: from its time on an expression sees nothing of it, until another value comes.
func Ended() float64 { return math.Float64frombits(value.StaleNaN) }

// Append keeps samples. One that is older than what may still come late, or not a number, is left out.
func (s *Store) Append(ctx context.Context, samples []watch.Sample) error {
	a := s.db.Appender(ctx)
	var key []byte
	usual := time.Now().Add(-settled)
	late := usual // the oldest that came late
	for i := range samples {
		sample := &samples[i]
		if math.IsNaN(sample.Value) && !value.IsStaleNaN(sample.Value) {
			continue
		}
		key = keyOf(key[:0], sample)
		s.mu.Lock()
		known, ok := s.refs[string(key)]
		s.mu.Unlock()
		if !ok {
			known.labels = labelsOf(sample)
		}
		ref, err := a.Append(known.ref, known.labels, sample.At.UnixMilli(), sample.Value)
		switch {
		case errors.Is(err, storage.ErrTooOldSample), errors.Is(err, storage.ErrOutOfBounds), errors.Is(err, storage.ErrDuplicateSampleForTimestamp), errors.Is(err, storage.ErrOutOfOrderSample):
			continue
		case err != nil:
			return errors.Join(fmt.Errorf("append to %s: %w", sample.Name, err), a.Rollback())
		}
		if ref != known.ref {
			known.ref = ref
			s.remember(string(key), known)
		}
		if sample.At.Before(late) {
			late = sample.At
		}
	}
	if err := a.Commit(); err != nil {
		return fmt.Errorf("write series: %w", err)
	}
	if late.Before(usual) {
		s.segments.forget(late)
	}
	return nil
}

// mostRefs bounds what is remembered: series of statements come and go.
const mostRefs = 200_000

func (s *Store) remember(key string, r reference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refs) >= mostRefs {
		clear(s.refs)
	}
	s.refs[key] = r
}

func keyOf(key []byte, s *watch.Sample) []byte {
	key = append(key, s.Name...)
	for _, l := range s.Labels {
		key = append(key, 0xff)
		key = append(key, l.Name...)
		key = append(key, 0xfe)
		key = append(key, l.Value...)
	}
	return key
}

func labelsOf(s *watch.Sample) labels.Labels {
	b := labels.NewScratchBuilder(len(s.Labels) + 1)
	b.Add(model.MetricNameLabel, s.Name)
	for _, l := range s.Labels {
		if l.Value != "" { // an empty label is none
			b.Add(l.Name, l.Value)
		}
	}
	b.Sort()
	return b.Labels()
}
