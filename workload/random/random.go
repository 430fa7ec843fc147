// Package random draws keys and values: distributions over rows and generators of text, the same for the same seed.
package random

import "math/rand/v2"

// New returns the generator of one stream of a seed: a worker, a piece of a table. Streams of one seed are independent.
func New(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(seed), mix(mix(seed)+stream)))
}

// mix spreads neighbouring numbers over all 64 bits: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Distribution draws numbers from 0 to n-1, n at least 1. One instance serves one goroutine, and does not allocate.
type Distribution interface {
	Draw(r *rand.Rand, n int64) int64
}

// Uniform draws every number equally often.
type Uniform struct{}

// Draw implements Distribution.
func (Uniform) Draw(r *rand.Rand, n int64) int64 { return r.Int64N(n) }

// Sequential walks through all numbers in order, from a random start, over and over.
type Sequential struct {
	next    int64
	started bool
}

// Draw implements Distribution.
func (s *Sequential) Draw(r *rand.Rand, n int64) int64 {
	if !s.started {
		s.next, s.started = r.Int64N(n), true
	}
	at := s.next % n
	s.next = at + 1
	return at
}
