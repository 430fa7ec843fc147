package series

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// twin records the same durations here and in the library, whose answers are the truth.
type twin struct {
	ours *Histogram
	hdr  *hdrhistogram.Histogram
}

func newTwin() twin {
	return twin{NewHistogram(), hdrhistogram.New(1, int64(highest), digits)}
}

func (w twin) record(t testing.TB, d time.Duration, n int64) {
	t.Helper()
	w.ours.RecordN(d, n)
	if err := w.hdr.RecordValues(min(max(int64(d), 0), int64(highest)), n); err != nil {
		t.Fatalf("record %v: %v", d, err)
	}
}

func (w twin) check(t testing.TB) {
	t.Helper()
	s := w.ours.Snapshot()
	if got := w.hdr.TotalCount(); w.ours.Count() != got || s.Count() != got {
		t.Fatalf("counts %d and %d, the library's is %d", w.ours.Count(), s.Count(), got)
	}
	if w.ours.Count() == 0 {
		if w.ours.Max() != 0 || w.ours.Min() != 0 || w.ours.Mean() != 0 || w.ours.Quantile(0.5) != 0 || !reflect.DeepEqual(s, Snapshot{}) {
			t.Fatal("an empty histogram is not zero")
		}
		return
	}
	if got := time.Duration(w.hdr.Max()); w.ours.Max() != got || s.Max() != got {
		t.Fatalf("max %v and %v, the library's is %v", w.ours.Max(), s.Max(), got)
	}
	if w.ours.Min() != s.Min() || w.ours.Min() > w.ours.Quantile(1e-9) {
		t.Fatalf("min %v and %v", w.ours.Min(), s.Min())
	}
	mean := w.hdr.Mean()
	if got := float64(w.ours.Mean()); math.Abs(got-mean) > 1+1e-9*mean || w.ours.Mean() != s.Mean() {
		t.Fatalf("mean %v and %v, the library's is %v", w.ours.Mean(), s.Mean(), time.Duration(mean))
	}
	for _, q := range []float64{-1, 0, 1e-9, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1 - 1e-12, 1, 2} {
		want := time.Duration(w.hdr.ValueAtQuantile(q * 100))
		if w.ours.Quantile(q) != want || s.Quantile(q) != want {
			t.Fatalf("quantile %v: %v and %v, the library's is %v", q, w.ours.Quantile(q), s.Quantile(q), want)
		}
	}
	if back := Merge(s); !reflect.DeepEqual(back, w.ours) {
		t.Fatal("a histogram is not the same after a snapshot")
	}
}

func TestHistogramAgreesWithLibrary(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		w := newTwin()
		w.check(t)
		for range random.IntN(2000) {
			// Every order of magnitude, both ends of the range and what lies beyond them.
			d := time.Duration(math.Exp(random.Float64() * math.Log(4*float64(highest))))
			w.record(t, d-time.Duration(random.IntN(3)), 1+random.Int64N(5))
		}
		w.check(t)
	}
}

func TestBucketEdges(t *testing.T) {
	hdr := hdrhistogram.New(1, int64(highest), digits)
	for bucket := range bucketOf(highest) + 1 {
		low, high := lowerEdge(bucket), upperEdge(bucket)
		if bucketOf(low) != bucket && low <= highest || high <= highest && bucketOf(high) != bucket {
			t.Fatalf("bucket %d: edges %d and %d belong to %d and %d", bucket, low, high, bucketOf(low), bucketOf(high))
		}
		if !hdr.ValuesAreEquivalent(int64(low), int64(high)) || hdr.ValuesAreEquivalent(int64(high), int64(high)+1) {
			t.Fatalf("bucket %d: edges %d and %d are not the library's", bucket, low, high)
		}
		if float64(high-low) > float64(low)/1000 {
			t.Fatalf("bucket %d, %v to %v, has less than three digits", bucket, low, high)
		}
	}
}

func TestMergeIsExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	whole := NewHistogram()
	var parts []Snapshot
	merged := NewHistogram()
	part := NewHistogram()
	for range 20 {
		part.Reset()
		for range random.IntN(300) {
			d := time.Duration(random.ExpFloat64() * float64(time.Millisecond))
			whole.Record(d)
			part.Record(d)
		}
		parts = append(parts, part.Snapshot())
		merged.Merge(part)
	}
	if !reflect.DeepEqual(Merge(parts...), whole) || !reflect.DeepEqual(merged, whole) {
		t.Fatal("the parts do not add up to the whole")
	}
}

func TestBuckets(t *testing.T) {
	h := NewHistogram()
	h.RecordN(5, 2)
	h.Record(3 * time.Second)
	var edges []time.Duration
	var counts []int64
	for edge, n := range h.Snapshot().Buckets() {
		edges, counts = append(edges, edge), append(counts, n)
	}
	if !slices.Equal(counts, []int64{2, 1}) || edges[0] != 5 || edges[1] != h.Max() {
		t.Fatalf("%v %v", edges, counts)
	}
}

func FuzzHistogram(f *testing.F) {
	f.Add(int64(1), int64(1), int64(1<<40), int64(7))
	f.Fuzz(func(t *testing.T, a, n, b, m int64) {
		w := newTwin()
		w.record(t, time.Duration(a), max(n, 0)%(1<<40))
		w.record(t, time.Duration(b), max(m, 0)%(1<<40))
		w.check(t)
	})
}

func BenchmarkRecord(b *testing.B) {
	h := NewHistogram()
	d := 100 * time.Microsecond
	for b.Loop() {
		h.Record(d)
		d = (d*5 + 1) & (1<<20 - 1)
	}
}

func BenchmarkSnapshotAndReset(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	h, full := NewHistogram(), NewHistogram()
	for range 50_000 {
		full.Record(time.Duration(random.ExpFloat64() * 300_000))
	}
	var s Snapshot
	b.ReportAllocs()
	for b.Loop() {
		h.Merge(full)
		s = h.Snapshot()
		h.Reset()
	}
	b.ReportMetric(float64(len(s.packed)), "bytes/snapshot")
}
