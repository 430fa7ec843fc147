package analyze

import "math"

// Statistic is a metric of a period of seconds, whatever their order: throughput, a percentile of the merged response
// times, the share of errors.
type Statistic interface {
	// Sample readies seconds for being valued many times.
	Sample(seconds []Second) Sample
}

// Sample is a statistic bound to seconds.
type Sample interface {
	// Value is the statistic when second i counts weights[i] times; NaN when there is nothing to compute it from.
	Value(weights []int32) float64

	// Influence is how far each second pulls the value, up to a common factor (Hampel 1974). How it is correlated
	// from one second to the next says how many of the seconds are news. It is nil for a fact.
	Influence() []float64

	// Limits is the widest interval of these two: the value alone, and what so many operations, were they all
	// independent, would leave open at the level alpha if there were more times as many of them. A bound may be infinite.
	Limits(alpha, more float64) (low, high float64)
}

// Value is a statistic of seconds, each counted once.
func Value(s Statistic, seconds []Second) float64 {
	return s.Sample(seconds).Value(once(len(seconds)))
}

func once(n int) []int32 {
	weights := make([]int32, n)
	for i := range weights {
		weights[i] = 1
	}
	return weights
}

// Max is the largest time of any operation in milliseconds. It is a fact about what was measured, not an estimate of what
// would be measured next: resampling could only make it smaller, so its interval is the value itself.
func Max(of Timing) Statistic {
	return fact(func(seconds []Second) float64 {
		largest := math.NaN()
		for _, s := range seconds {
			if times := of(s); times.Count() > 0 {
				largest = math.Max(milliseconds(times.Max()), zeroIfNaN(largest))
			}
		}
		return largest
	})
}

// Errors is the number of operations that ended in an error: a fact, like Max.
func Errors() Statistic {
	return fact(func(seconds []Second) float64 {
		var n int64
		for _, s := range seconds {
			n += s.Errors
		}
		return float64(n)
	})
}

// fact is a statistic that is counted, not estimated.
type fact func(seconds []Second) float64

// Sample implements Statistic.
func (f fact) Sample(seconds []Second) Sample { return known(f(seconds)) }

// known is a sample that holds no uncertainty.
type known float64

func (k known) Value([]int32) float64                   { return float64(k) }
func (k known) Influence() []float64                    { return nil }
func (k known) Limits(_, _ float64) (low, high float64) { return float64(k), float64(k) }

func zeroIfNaN(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
