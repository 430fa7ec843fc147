package analyze

import (
	"math"
	"testing"
	"time"

	"plimsoll/series"
)

// A percentile of weighted seconds is that of their merged histograms, each merged as often as it counts.
func TestPercentileOfWeightsIsThatOfTheMergedHistograms(t *testing.T) {
	rng := newRand()
	for _, operations := range []int{1, 3, 40, 800} {
		var seconds []Second
		for i := range 50 {
			var times []time.Duration
			for range rng.IntN(operations + 1) { // some seconds have none
				times = append(times, time.Duration(1e6*math.Exp(rng.NormFloat64()+0.3*float64(i%5))))
			}
			seconds = append(seconds, second(times...))
		}
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
			sample := Percentile(q, Response).Sample(seconds)
			for range 60 {
				weights := make([]int32, len(seconds))
				h := series.NewHistogram()
				for i := range weights {
					weights[i] = int32(max(rng.IntN(6)-3, 0))
					for range weights[i] {
						h.Add(seconds[i].Response)
					}
				}
				got, want := sample.Value(weights), milliseconds(h.Quantile(max(q, 1e-9)))
				if h.Count() == 0 {
					want = math.NaN()
				}
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Fatalf("%d operations, q=%v: %v, merged %v", operations, q, got, want)
				}
			}
		}
	}
}

func TestPercentileOfTooFewOperationsHasNoUpperLimit(t *testing.T) {
	var times []time.Duration
	for i := range 300 {
		times = append(times, time.Duration(i+1)*time.Millisecond)
	}
	for q, bounded := range map[float64]bool{0.5: true, 0.9: true, 0.999: false} {
		low, high := Percentile(q, Response).Sample([]Second{second(times...)}).Limits(0.01, 1)
		if math.IsInf(high, 1) == bounded || low <= 0 {
			t.Errorf("q=%v among 300: %v to %v", q, low, high)
		}
	}
	// Ranks 127 to 174 enclose the median of 300 at 99 % (half of 2.576·√75 on each side).
	low, high := Percentile(0.5, Response).Sample([]Second{second(times...)}).Limits(0.01, 1)
	if !near(low, 127, 1) || !near(high, 174, 1) {
		t.Errorf("median of 1…300: %v to %v", low, high)
	}
	if _, high := Percentile(0.999, Response).Sample([]Second{second(times...)}).Limits(0.01, 100); math.IsInf(high, 1) {
		t.Error("30,000 operations bound p99.9")
	}
}

func TestStatisticsOfNothing(t *testing.T) {
	for name, s := range map[string]Statistic{
		"throughput": Throughput(), "share": ErrorShare(), "p99": Percentile(0.99, Response), "mean": Mean(Service), "max": Max(Response),
	} {
		if v := Value(s, nil); !math.IsNaN(v) {
			t.Errorf("%s of no seconds is %v", name, v)
		}
		e := EstimateOf(Quantity{Statistic: s}, Options{Replicates: 10})
		if !math.IsNaN(e.Value) {
			t.Errorf("%s of no rounds is %v", name, e)
		}
	}
}
