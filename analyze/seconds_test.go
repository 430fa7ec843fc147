package analyze

import (
	"math"
	"math/rand/v2"
	"time"

	"plimsoll/series"
)

// testSeed is the seed of every random series in these tests.
const testSeed = 7

func newRand() *rand.Rand { return rand.New(rand.NewPCG(testSeed, 0)) }

// second has operations whose times are the given ones.
func second(times ...time.Duration) Second {
	h := series.NewHistogram()
	for _, d := range times {
		h.Record(d)
	}
	n := int64(len(times))
	return Second{Length: time.Second, Tally: series.Tally{Scheduled: n, Done: n}, Response: h.Snapshot(), Service: h.Snapshot()}
}

// counted are seconds with so many operations each, one after the other from start on.
func counted(start time.Time, operations ...float64) []Second {
	out := make([]Second, len(operations))
	for i, n := range operations {
		done := int64(math.Round(n))
		out[i] = Second{
			Start: start.Add(time.Duration(i) * time.Second), Length: time.Second,
			Tally: series.Tally{Scheduled: done, Done: done},
		}
	}
	return out
}

// noisy are values around a level with a relative noise that is correlated from one to the next.
func noisy(rng *rand.Rand, n int, level, noise, correlation float64) []float64 {
	out := make([]float64, n)
	x := rng.NormFloat64()
	for i := range out {
		out[i] = level * (1 + noise*x)
		x = correlation*x + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
	}
	return out
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// throughputOf is a quantity of rounds that begin a minute after each other.
func throughputOf(from time.Time, rounds ...[]float64) Quantity {
	q := Quantity{Name: "throughput", Statistic: Throughput()}
	for r, values := range rounds {
		q.Rounds = append(q.Rounds, counted(from.Add(time.Duration(r)*2*time.Minute), values...))
	}
	return q
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }
