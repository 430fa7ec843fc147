package analyze

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/series"
)

// BenchmarkEstimateOfP99 is the figure that every cell of a trial needs: 5 rounds of 60 s with 1,000 operations a second,
// 1,000 replicates.
func BenchmarkEstimateOfP99(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	h := series.NewHistogram()
	rounds := make([][]Second, 5)
	for r := range rounds {
		for range 60 {
			h.Reset()
			for range 1000 {
				h.Record(time.Duration(2e6 * math.Exp(0.5*rng.NormFloat64())))
			}
			rounds[r] = append(rounds[r], Second{Length: time.Second, Response: h.Snapshot()})
		}
	}
	q := Quantity{Rounds: rounds, Statistic: Percentile(0.99, Response)}
	for b.Loop() {
		EstimateOf(q, Options{})
	}
}
