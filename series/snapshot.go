package series

import (
	"time"
)

// Snapshot is a histogram at rest: the non-empty buckets only, a few KiB for a second's operations. The zero value is empty.
// It loses nothing: merged into a Histogram it counts as the original did.
type Snapshot struct {
	values []int64 // a representative of each bucket, rising
	counts []int64
	total  int64
	max    int64
}

// Snapshot copies what h has counted.
func (h *Histogram) Snapshot() Snapshot {
	var s Snapshot
	for _, bar := range h.hdr.Distribution() {
		if bar.Count > 0 {
			s.values = append(s.values, bar.To)
			s.counts = append(s.counts, bar.Count)
			s.total += bar.Count
		}
	}
	s.max = h.hdr.Max()
	return s
}

// Add merges a snapshot into h, exactly.
func (h *Histogram) Add(s Snapshot) {
	for i, v := range s.values {
		h.RecordN(time.Duration(v), s.counts[i])
	}
}

// Count is the number of durations.
func (s Snapshot) Count() int64 { return s.total }

// Quantile returns the duration at q, 0 to 1; 0 when s is empty.
func (s Snapshot) Quantile(q float64) time.Duration {
	if s.total == 0 {
		return 0
	}
	rank := int64(q*float64(s.total) + 0.5)
	rank = min(max(rank, 1), s.total)
	var seen int64
	for i, n := range s.counts {
		if seen += n; seen >= rank {
			return time.Duration(s.values[i])
		}
	}
	return s.Max()
}

// Max returns the largest duration.
func (s Snapshot) Max() time.Duration { return time.Duration(s.max) }

// Mean returns the mean duration; 0 when s is empty.
func (s Snapshot) Mean() time.Duration {
	if s.total == 0 {
		return 0
	}
	var sum float64
	for i, v := range s.values {
		sum += float64(v) * float64(s.counts[i])
	}
	return time.Duration(sum / float64(s.total))
}

// Merge returns the histogram of several snapshots, added.
func Merge(all ...Snapshot) *Histogram {
	h := NewHistogram()
	for _, s := range all {
		h.Add(s)
	}
	return h
}
