package main

import (
	"math"
	"math/rand/v2"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

// service is a simulated service. Each second has a level; the log of the level is a first-order autoregression, so the
// correlation from one second to the next is known. The level stretches the times of the second's operations and, half as
// much, slows the second's throughput down.
type service struct {
	correlation float64 // of the log level from one second to the next
	noise       float64 // standard deviation of the log level
	rounds      float64 // standard deviation of the log level from one round to the next, on top
	times       law
}

// law is how the times of a second's operations come about.
type law int

const (
	drawn law = iota // each by itself, from the heavy-tailed law of times
	even             // laid out evenly over that law: a second's percentiles follow its level and nothing else
	none             // only counted
)

// perSecond is how many operations a second has at the usual level.
const perSecond = 1000

// source draws seconds of worlds. The same seeds give the same seconds.
type source struct {
	rng       *rand.Rand
	histogram *series.Histogram
	clock     time.Time
}

func newSource(seed, stream uint64) *source {
	return &source{
		rng:       rand.New(rand.NewPCG(seed, stream)),
		histogram: series.NewHistogram(),
		clock:     time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// rounds draws rounds in which every level is slow times as high.
func (s *source) rounds(w service, rounds, seconds int, slow float64) [][]analyze.Second {
	out := make([][]analyze.Second, rounds)
	for r := range out {
		shift := slow * math.Exp(w.rounds*s.rng.NormFloat64())
		levels := s.levels(w, seconds)
		for i := range levels {
			levels[i] *= shift
		}
		out[r] = s.seconds(levels, w.times)
	}
	return out
}

// levels draws a stationary stretch of levels around 1.
func (s *source) levels(w service, n int) []float64 {
	out := make([]float64, n)
	x := s.rng.NormFloat64()
	for i := range out {
		out[i] = math.Exp(w.noise * x)
		x = w.correlation*x + math.Sqrt(1-w.correlation*w.correlation)*s.rng.NormFloat64()
	}
	return out
}

// seconds draws one second for each level.
func (s *source) seconds(levels []float64, times law) []analyze.Second {
	out := make([]analyze.Second, len(levels))
	for i, level := range levels {
		operations := int64(math.Round(perSecond / math.Sqrt(level)))
		out[i] = analyze.Second{
			Start: s.clock, Length: time.Second,
			Tally:    series.Tally{Scheduled: operations, Done: operations},
			Response: s.times(operations, level, times),
		}
		s.clock = s.clock.Add(time.Second)
	}
	return out
}

func (s *source) times(operations int64, level float64, times law) series.Snapshot {
	s.histogram.Reset()
	quantiles := int64(len(timeQuantiles))
	switch times {
	case drawn:
		for range operations {
			s.histogram.Record(time.Duration(timeQuantiles[s.rng.Int64N(quantiles)] * level))
		}
	case even:
		for k := range operations {
			s.histogram.Record(time.Duration(timeQuantiles[(2*k+1)*quantiles/(2*operations)] * level))
		}
	}
	return s.histogram.Snapshot()
}

// timeQuantiles is the law of an operation's time at the usual level, as evenly many quantiles: a log-normal body around
// 2 ms, and for the slowest twentieth a Pareto tail of index 2.5 that joins it.
var timeQuantiles = func() (law [1 << 16]float64) {
	const (
		median    = float64(2 * time.Millisecond)
		spread    = 0.5
		tailShare = 0.05
		tailIndex = 2.5
	)
	for i := range law {
		u := (float64(i) + 0.5) / float64(len(law))
		law[i] = median * math.Exp(spread*math.Sqrt2*math.Erfinv(2*min(u, 1-tailShare)-1))
		if u > 1-tailShare {
			law[i] *= math.Pow(tailShare/(1-u), 1/tailIndex)
		}
	}
	return law
}()
