package series

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and precision of every latency Plimsoll keeps: 1 µs to 1 h, three significant digits, in nanoseconds,
// the unit that HdrHistogram's own log tools expect.
const (
	lowest  = int64(time.Microsecond)
	highest = int64(time.Hour)
	digits  = 3
)

// Histogram counts durations with three significant digits. It is not safe for concurrent use.
type Histogram struct{ hdr *hdrhistogram.Histogram }

// NewHistogram returns an empty histogram (about 200 KiB).
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(lowest, highest, digits)}
}

// Record counts one duration; what lies outside the range counts at its edge.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts one duration n times.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	_ = h.hdr.RecordValues(min(max(int64(d), 0), highest), n) // cannot fail inside the range
}

// Count is the number of durations recorded.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Quantile returns the duration at q, 0 to 1; 0 when the histogram is empty.
func (h *Histogram) Quantile(q float64) time.Duration {
	return time.Duration(h.hdr.ValueAtQuantile(q * 100))
}

// Mean returns the mean duration; 0 when the histogram is empty.
func (h *Histogram) Mean() time.Duration { return time.Duration(h.hdr.Mean()) }

// Max returns the largest duration; 0 when the histogram is empty.
func (h *Histogram) Max() time.Duration { return time.Duration(h.hdr.Max()) }

// Reset forgets everything.
func (h *Histogram) Reset() { h.hdr.Reset() }

// Merge adds what other counted, exactly.
func (h *Histogram) Merge(other *Histogram) { h.hdr.Merge(other.hdr) }
