package series

import (
	"encoding/binary"
	"iter"
	"time"
)

// Snapshot is a histogram at rest: a few KiB for a second's operations. The zero value is empty. It never changes, so
// copies may be shared. It loses nothing: added to an empty Histogram it makes the one it was taken from.
type Snapshot struct {
	packed      []byte // for each bucket that counted, in order: its distance from the last one, its count (uvarints)
	total       int64
	first, last int // buckets
}

// Snapshot copies what h has counted.
func (h *Histogram) Snapshot() Snapshot {
	if h.total == 0 {
		return Snapshot{}
	}
	s := Snapshot{total: h.total, first: h.low, last: h.high}
	used := 0
	for _, n := range h.counts[h.low : h.high+1] {
		if n > 0 {
			used++
		}
	}
	s.packed = make([]byte, 0, 3*used)
	previous := 0
	for bucket := h.low; bucket <= h.high; bucket++ {
		if n := h.counts[bucket]; n > 0 {
			s.packed = binary.AppendUvarint(s.packed, uint64(bucket-previous))
			s.packed = binary.AppendUvarint(s.packed, uint64(n))
			previous = bucket
		}
	}
	return s
}

// Add merges a snapshot into h, exactly.
func (h *Histogram) Add(s Snapshot) {
	for bucket, n := range s.buckets() {
		h.count(bucket, n)
	}
}

// Merge returns the histogram of several snapshots, added.
func Merge(all ...Snapshot) *Histogram {
	h := NewHistogram()
	for _, s := range all {
		h.Add(s)
	}
	return h
}

// Count is the number of durations.
func (s Snapshot) Count() int64 { return s.total }

// Quantile returns what the histogram's Quantile would.
func (s Snapshot) Quantile(q float64) time.Duration {
	if s.total == 0 {
		return 0
	}
	if q <= 0 {
		return s.Min()
	}
	left := rank(q, s.total)
	for bucket, n := range s.buckets() {
		if left -= n; left <= 0 {
			return upperEdge(bucket)
		}
	}
	return s.Max()
}

// Mean returns what the histogram's Mean would.
func (s Snapshot) Mean() time.Duration {
	if s.total == 0 {
		return 0
	}
	var sum float64
	for bucket, n := range s.buckets() {
		sum += float64(n) * middle(bucket)
	}
	return time.Duration(sum / float64(s.total))
}

// Min returns what the histogram's Min would.
func (s Snapshot) Min() time.Duration {
	if s.total == 0 {
		return 0
	}
	return lowerEdge(s.first)
}

// Max returns what the histogram's Max would.
func (s Snapshot) Max() time.Duration {
	if s.total == 0 {
		return 0
	}
	return upperEdge(s.last)
}

// Buckets returns the buckets that counted, rising: the upper edge and the count of each.
func (s Snapshot) Buckets() iter.Seq2[time.Duration, int64] {
	return func(yield func(time.Duration, int64) bool) {
		for bucket, n := range s.buckets() {
			if !yield(upperEdge(bucket), n) {
				return
			}
		}
	}
}

func (s Snapshot) buckets() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		bucket := 0
		for rest := s.packed; len(rest) > 0; {
			gap, size := binary.Uvarint(rest)
			n, size2 := binary.Uvarint(rest[size:])
			rest = rest[size+size2:]
			bucket += int(gap)
			if !yield(bucket, int64(n)) {
				return
			}
		}
	}
}
