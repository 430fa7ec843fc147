package analyze

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/series"
)

// Throughput is the rate of completed operations, late ones included, per second.
func Throughput() Statistic {
	return ratio{
		over:  func(s Second) float64 { return float64(s.Completed()) },
		under: func(s Second) float64 { return s.Length.Seconds() },
	}
}

// ErrorShare is the share of the operations that ended in an error, 0 to 1.
func ErrorShare() Statistic {
	return ratio{
		over:  func(s Second) float64 { return float64(s.Errors) },
		under: func(s Second) float64 { return float64(s.Scheduled) },
		share: true,
	}
}

// Mean is the mean time in milliseconds.
func Mean(of Timing) Statistic {
	return ratio{
		over:  func(s Second) float64 { times := of(s); return milliseconds(times.Mean()) * float64(times.Count()) },
		under: func(s Second) float64 { return float64(of(s).Count()) },
	}
}

// Level is the mean of a signal's readings.
func Level() Statistic {
	return ratio{over: func(s Second) float64 { return s.Level }, under: func(Second) float64 { return 1 }}
}

// Timing picks one of the times of a second's operations.
type Timing func(Second) series.Snapshot

// Response counts from the moment at which an operation was meant to start.
func Response(s Second) series.Snapshot { return s.Response }

// Service counts from the moment at which an operation did start.
func Service(s Second) series.Snapshot { return s.Service }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ratio is a sum over the seconds divided by another.
type ratio struct {
	over, under func(Second) float64
	share       bool // over counts some of the things that under counts
}

// Sample implements Statistic.
func (r ratio) Sample(seconds []Second) Sample {
	s := ratioSample{share: r.share, over: make([]float64, len(seconds)), under: make([]float64, len(seconds))}
	for i, second := range seconds {
		s.over[i], s.under[i] = r.over(second), r.under(second)
	}
	return s
}

type ratioSample struct {
	over, under []float64 // by second
	share       bool
}

func (s ratioSample) Value(weights []int32) float64 {
	over, under := s.sums(weights)
	if under == 0 {
		return math.NaN()
	}
	return over / under
}

func (s ratioSample) sums(weights []int32) (over, under float64) {
	for i, w := range weights {
		over += float64(w) * s.over[i]
		under += float64(w) * s.under[i]
	}
	return over, under
}

// Influence is the linear term of the ratio's expansion (Cochran, Sampling Techniques, 6.3).
func (s ratioSample) Influence() []float64 {
	value := s.Value(once(len(s.over)))
	pull := make([]float64, len(s.over))
	for i := range pull {
		pull[i] = s.over[i] - value*s.under[i]
	}
	return pull
}

// Limits of a share are the exact binomial ones (Clopper and Pearson 1934): no error among 1,000 operations leaves up to
// 0.5 % open.
func (s ratioSample) Limits(alpha, more float64) (low, high float64) {
	weights := once(len(s.over))
	if !s.share {
		value := s.Value(weights)
		return value, value
	}
	hits, all := s.sums(weights)
	hits, misses := hits*more, (all-hits)*more
	low, high = 0, 1
	if hits > 0 {
		low = distuv.Beta{Alpha: hits, Beta: misses + 1}.Quantile(alpha / 2)
	}
	if misses > 0 {
		high = distuv.Beta{Alpha: hits + 1, Beta: misses}.Quantile(1 - alpha/2)
	}
	return low, high
}
