package store

import (
	"context"
	"errors"
	"math"
	"sort"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// chunkwise reads long ranges of a database one chunk after another. The database's own iterators pass on single samples, each through several of
// them, which takes longer than to decode it.
type chunkwise struct{ db *tsdb.DB }

// leastChunkwise is the range from which on that is worth it: of a short range, most of what its chunks hold lies outside.
const leastChunkwise = 20 * time.Minute

// Querier implements storage.Queryable.
func (c chunkwise) Querier(from, to int64) (storage.Querier, error) {
	q, err := c.db.Querier(from, to)
	if err != nil || to-from < leastChunkwise.Milliseconds() {
		return q, err
	}
	all, err := c.db.ChunkQuerier(from, to)
	if err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return &chunkQuerier{q, all}, nil
}

type chunkQuerier struct {
	storage.Querier
	chunks storage.ChunkQuerier
}

// Select implements storage.Querier. Who gives no hints is given the samples of the range and no others; an expression picks its samples itself.
func (q *chunkQuerier) Select(ctx context.Context, sorted bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	if hints == nil {
		return q.Querier.Select(ctx, sorted, nil, matchers...)
	}
	whole := *hints
	whole.DisableTrimming = true // or the chunks at both ends would be encoded anew
	return chunkSet{q.chunks.Select(ctx, sorted, &whole, matchers...)}
}

// Close implements storage.Querier.
func (q *chunkQuerier) Close() error { return errors.Join(q.chunks.Close(), q.Querier.Close()) }

type chunkSet struct{ storage.ChunkSeriesSet }

// At implements storage.SeriesSet.
func (s chunkSet) At() storage.Series { return chunkSeries{s.ChunkSeriesSet.At()} }

type chunkSeries struct{ storage.ChunkSeries }

// Iterator implements storage.Series.
func (s chunkSeries) Iterator(used chunkenc.Iterator) chunkenc.Iterator {
	it, ours := used.(*chunkIterator)
	if !ours {
		it = &chunkIterator{Iterator: chunkenc.NewNopIterator()}
	}
	it.chunks, it.points, it.at, it.err = s.ChunkSeries.Iterator(it.chunks), it.points[:0], -1, nil
	return it
}

// chunkIterator goes through the samples of one series. The store has no histograms.
type chunkIterator struct {
	chunkenc.Iterator // for what only histograms need
	chunks            chunks.Iterator
	decoder           chunkenc.Iterator
	points            []chunkPoint // of one chunk, decoded
	at                int          // in points
	err               error
}

type chunkPoint struct {
	ms    millisecond
	value float64
}

// millisecond is one of Unix time. By its own name no tool takes Seek for that of an io.Seeker.
type millisecond = int64

// Next implements chunkenc.Iterator.
func (i *chunkIterator) Next() chunkenc.ValueType {
	if i.at+1 < len(i.points) {
		i.at++
		return chunkenc.ValFloat
	}
	return i.turn(math.MinInt64)
}

// Seek implements chunkenc.Iterator.
func (i *chunkIterator) Seek(ms millisecond) chunkenc.ValueType {
	for n := len(i.points); n == 0 || i.points[n-1].ms < ms; n = len(i.points) {
		if i.turn(ms) == chunkenc.ValNone {
			return chunkenc.ValNone
		}
	}
	i.at = max(i.at, 0)
	rest := i.points[i.at:]
	i.at += sort.Search(len(rest), func(n int) bool { return rest[n].ms >= ms })
	return chunkenc.ValFloat
}

// turn decodes the next chunk that reaches a time, and stands at its first sample.
func (i *chunkIterator) turn(ms millisecond) chunkenc.ValueType {
	i.points, i.at = i.points[:0], -1
	for i.err == nil && i.chunks.Next() {
		chunk := i.chunks.At()
		if chunk.MaxTime < ms {
			continue
		}
		i.decoder = chunk.Chunk.Iterator(i.decoder)
		for kind := i.decoder.Next(); kind != chunkenc.ValNone; kind = i.decoder.Next() {
			if kind == chunkenc.ValFloat {
				ms, value := i.decoder.At()
				i.points = append(i.points, chunkPoint{ms, value})
			}
		}
		if i.err = i.decoder.Err(); i.err == nil && len(i.points) > 0 {
			i.at = 0
			return chunkenc.ValFloat
		}
	}
	if i.err == nil {
		i.err = i.chunks.Err()
	}
	i.points, i.at = i.points[:0], -1
	return chunkenc.ValNone
}

// At implements chunkenc.Iterator.
func (i *chunkIterator) At() (ms millisecond, value float64) {
	p := &i.points[i.at]
	return p.ms, p.value
}

// AtT implements chunkenc.Iterator.
func (i *chunkIterator) AtT() millisecond { return i.points[i.at].ms }

// AtST implements chunkenc.Iterator.
func (*chunkIterator) AtST() int64 { return 0 }

// Err implements chunkenc.Iterator.
func (i *chunkIterator) Err() error { return i.err }
