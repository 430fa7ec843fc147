package series

import (
	"math/bits"
	"time"
)

// Histogram counts durations from 0 to an hour with three significant digits, in the buckets of HdrHistogram for
// nanoseconds: merging loses nothing and its tools read what LatencyLog writes. It is not safe for concurrent use.
//
// The buckets are kept here and not in the library's type because a load empties a dozen of them every second, and the
// library's can only be read bucket by bucket at a cost of a millisecond each.
type Histogram struct {
	counts    []int64
	total     int64
	low, high int // the first and last bucket touched; low > high when empty
}

// The layout (HdrHistogram: lowest discernible value 1, highest trackable value 1 h, 3 digits): the values below 2,048 ns
// have a bucket each, and each further power of two is cut into 1,024.
const (
	highest    = time.Hour
	digits     = 3
	octaveBits = 10
	octave     = 1 << octaveBits
)

// NewHistogram returns an empty histogram of 264 KiB, of which only the part that is used gets touched.
func NewHistogram() *Histogram {
	h := &Histogram{counts: make([]int64, bucketOf(highest)+1)}
	h.Reset()
	return h
}

// Record counts one duration; what lies outside the range counts at its edge.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts one duration n times; n must not be negative.
func (h *Histogram) RecordN(d time.Duration, n int64) { h.count(bucketOf(d), n) }

func (h *Histogram) count(bucket int, n int64) {
	if n == 0 {
		return
	}
	h.counts[bucket] += n
	h.total += n
	h.low = min(h.low, bucket)
	h.high = max(h.high, bucket)
}

// Count is the number of durations recorded.
func (h *Histogram) Count() int64 { return h.total }

// Quantile returns the duration at q, 0 to 1, by the rule of HdrHistogram's ValueAtQuantile: the upper edge of the
// bucket that holds the q·Count-th duration, rounded to the nearest; the lower edge of the first for q = 0. It returns 0
// when the histogram is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	if q <= 0 {
		return h.Min()
	}
	left := rank(q, h.total)
	bucket := h.low
	for ; bucket < h.high; bucket++ {
		if left -= h.counts[bucket]; left <= 0 {
			break
		}
	}
	return upperEdge(bucket)
}

// Mean returns the mean duration, each counted at the middle of its bucket; 0 when the histogram is empty.
func (h *Histogram) Mean() time.Duration {
	if h.total == 0 {
		return 0
	}
	var sum float64
	for bucket := h.low; bucket <= h.high; bucket++ {
		sum += float64(h.counts[bucket]) * middle(bucket)
	}
	return time.Duration(sum / float64(h.total))
}

// Min returns the lower edge of the bucket of the smallest duration; 0 when the histogram is empty.
func (h *Histogram) Min() time.Duration {
	if h.total == 0 {
		return 0
	}
	return lowerEdge(h.low)
}

// Max returns the upper edge of the bucket of the largest duration; 0 when the histogram is empty.
func (h *Histogram) Max() time.Duration {
	if h.total == 0 {
		return 0
	}
	return upperEdge(h.high)
}

// Reset forgets everything.
func (h *Histogram) Reset() {
	if h.total > 0 {
		clear(h.counts[h.low : h.high+1])
	}
	h.total, h.low, h.high = 0, len(h.counts), -1
}

// Merge adds what other counted, exactly.
func (h *Histogram) Merge(other *Histogram) {
	for bucket := other.low; bucket <= other.high; bucket++ {
		h.count(bucket, other.counts[bucket])
	}
}

// rank is the position, from 1, of the duration at quantile q among total. The arithmetic is the library's, to the last
// bit, so that both name the same bucket.
func rank(q float64, total int64) int64 {
	percent := min(q*100, 100)
	r := percent/100*float64(total) + 0.5
	if !(r >= 1) { // q is NaN or tiny
		return 1
	}
	if r >= float64(total) {
		return total
	}
	return int64(r)
}

func bucketOf(d time.Duration) int {
	v := uint64(min(max(d, 0), highest))
	shift := bits.Len64(v|(2*octave-1)) - (octaveBits + 1)
	return shift<<octaveBits + int(v>>shift)
}

func lowerEdge(bucket int) time.Duration {
	shift := max(bucket>>octaveBits-1, 0)
	return time.Duration(bucket-shift<<octaveBits) << shift
}

func upperEdge(bucket int) time.Duration { return lowerEdge(bucket+1) - 1 }

func middle(bucket int) float64 {
	return float64(lowerEdge(bucket) + (lowerEdge(bucket+1)-lowerEdge(bucket))/2)
}
