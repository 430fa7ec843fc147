package random

import (
	"math"
	"math/rand/v2"
)

// Hotspot draws a share of the draws (Hits) from a share of the numbers at the beginning (Hot), the rest from the others,
// each uniformly. YCSB's defaults are 20 % and 80 %.
type Hotspot struct{ Hot, Hits float64 }

// Draw implements Distribution.
func (h Hotspot) Draw(r *rand.Rand, n int64) int64 {
	hot := min(max(int64(h.Hot*float64(n)), 1), n)
	if hot == n || r.Float64() < h.Hits {
		return r.Int64N(hot)
	}
	return hot + r.Int64N(n-hot)
}

// Exponential prefers low numbers: the probability falls off exponentially.
type Exponential struct{ rate, whole float64 }

// NewExponential returns an Exponential of which a share of the draws (hits) falls among a share of the numbers at the
// beginning (hot) of a range without end. YCSB's defaults are 0.8571 and 0.95.
func NewExponential(hot, hits float64) Exponential {
	rate := -math.Log1p(-hits) / hot
	return Exponential{rate, -math.Expm1(-rate)}
}

// Draw implements Distribution. What would lie past n is spread over the range: u stays below the probability of all n.
func (e Exponential) Draw(r *rand.Rand, n int64) int64 {
	u := r.Float64() * e.whole
	return min(int64(-math.Log1p(-u)/e.rate*float64(n)), n-1)
}

// Gaussian is bell-shaped around the middle: the mean of Rounds uniform draws, as sysbench's (12 by default).
type Gaussian struct{ Rounds int }

// Draw implements Distribution.
func (g Gaussian) Draw(r *rand.Rand, n int64) int64 {
	return min(int64(mean(r, g.Rounds)*float64(n)), n-1)
}

func mean(r *rand.Rand, rounds int) float64 {
	sum := 0.0
	for range rounds {
		sum += r.Float64()
	}
	return sum / float64(rounds)
}

// Pareto prefers low numbers by the rule that a share of 1-h of the draws falls among the first h of the numbers, and so
// on within those. h is 0.2 in sysbench: the 80-20 rule.
type Pareto struct{ power float64 }

// NewPareto returns a Pareto for h between 0 and 1.
func NewPareto(h float64) Pareto { return Pareto{math.Log(h) / math.Log(1-h)} }

// Draw implements Distribution.
func (p Pareto) Draw(r *rand.Rand, n int64) int64 {
	return min(int64(float64(n)*math.Pow(r.Float64(), p.power)), n-1)
}

// Special is the default of sysbench 1.0: Share of the draws fall on a few numbers in the middle (Part of all), uniformly;
// the others are Gaussian. Like sysbench's own it leaves out the first 1-Share of those few, because it draws the kind and
// the number from one random value.
type Special struct {
	Share, Part float64 // 0.75 and 0.01 in sysbench
	Rounds      int     // of the Gaussian, 12 in sysbench
}

// Draw implements Distribution.
func (s Special) Draw(r *rand.Rand, n int64) int64 {
	span := float64(n - 1)
	u := r.Float64()
	if u < 1-s.Share {
		return int64(mean(r, s.Rounds) * span)
	}
	part := span * s.Part
	return int64(u*(part+1) + span/2 - part/2)
}
