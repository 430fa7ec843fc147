package random

import (
	"math"
	"math/rand/v2"
)

// Theta is the skew that YCSB uses.
const Theta = 0.99

// Zipf draws number k with a probability in proportion to 1/(k+1)^theta: 0 most often.
//
// It samples by rejection-inversion (Hörmann, Derflinger: Rejection-Inversion to Generate Variates from Monotone
// Discrete Distributions, TOMACS 6.3, 1996), which is exact, needs no sum over all n to begin with, and follows an n that
// grows. YCSB's method (Gray et al., SIGMOD 1994) approximates the same distribution and is off by some percent from the
// third number on.
type Zipf struct {
	theta float64
	first float64 // H(1.5) - h(1): where number 0 begins
	near  float64 // a candidate this near to its point needs no second look

	n    int64
	last float64 // H(n+0.5)
}

// NewZipf returns a Zipf of this skew, at least 0 (uniform).
func NewZipf(theta float64) *Zipf {
	z := &Zipf{theta: theta}
	z.first = z.integral(1.5) - 1
	z.near = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z
}

// Draw implements Distribution.
func (z *Zipf) Draw(r *rand.Rand, n int64) int64 {
	if n != z.n {
		z.n, z.last = n, z.integral(float64(n)+0.5)
	}
	for {
		u := z.last + r.Float64()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), float64(n))
		if k-x <= z.near || u >= z.integral(k+0.5)-z.density(k) {
			return int64(k) - 1
		}
	}
}

// density is h(x) = x^-theta.
func (z *Zipf) density(x float64) float64 { return math.Exp(-z.theta * math.Log(x)) }

// integral is H(x) = (x^(1-theta) - 1) / (1-theta), which is ln x where theta is 1.
func (z *Zipf) integral(x float64) float64 {
	log := math.Log(x)
	if power := 1 - z.theta; math.Abs(power*log) > 1e-8 {
		return math.Expm1(power*log) / power
	}
	return log
}

// inverse is the inverse of integral.
func (z *Zipf) inverse(y float64) float64 {
	if power := 1 - z.theta; math.Abs(power*y) > 1e-8 {
		return math.Exp(math.Log1p(max(power*y, -1)) / power)
	}
	return math.Exp(y)
}

// Latest is a Zipf that prefers the highest numbers: the newest rows.
type Latest struct{ zipf Zipf }

// NewLatest returns a Latest of this skew.
func NewLatest(theta float64) *Latest { return &Latest{*NewZipf(theta)} }

// Draw implements Distribution.
func (l *Latest) Draw(r *rand.Rand, n int64) int64 { return n - 1 - l.zipf.Draw(r, n) }

// ScrambledItems is how many items YCSB's scrambled zipfian ranks before it scatters them over the keys, which makes the
// share of the most popular key the same for every n.
const ScrambledItems = 10_000_000_000

// Scrambled is a Zipf whose popular numbers are scattered over the whole range, as YCSB's.
type Scrambled struct{ zipf Zipf }

// NewScrambled returns a Scrambled of this skew.
func NewScrambled(theta float64) *Scrambled { return &Scrambled{*NewZipf(theta)} }

// Draw implements Distribution.
func (s *Scrambled) Draw(r *rand.Rand, n int64) int64 {
	return Hash(s.zipf.Draw(r, ScrambledItems)) % n
}

// Hash hashes a number to one from 0 to 2^63-1: FNV-1 over its eight bytes, lowest first, as YCSB's (which calls it
// FNV64; its order of xor and multiply is that of FNV-1a).
func Hash(n int64) int64 {
	hash, rest := uint64(0xcbf29ce484222325), uint64(n)
	for range 8 {
		hash = (hash ^ rest&0xff) * 1099511628211
		rest >>= 8
	}
	if signed := int64(hash); signed < 0 {
		return -signed & math.MaxInt64
	}
	return int64(hash)
}
