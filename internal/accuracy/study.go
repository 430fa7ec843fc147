package main

import (
	"hash/fnv"
	"runtime"
	"sync"
	"sync/atomic"
)

// study is how much to simulate, and from which seed.
type study struct {
	seed  uint64
	share float64 // of the full number of trials; 1 is what docs/accuracy.md shows

	results results  // where what real servers did is kept
	cases   []string // of the section on memory, to be measured anew: name or product/name; nil: all
}

// trials is the share of a number, at least 20.
func (s study) trials(full int) int { return max(20, int(float64(full)*s.share)) }

// repeat runs trials on all cores and returns their results in order. A trial's numbers depend on the study's seed, the
// name and the trial's number, and on nothing else.
func repeat[T any](s study, name string, trials int, trial func(*source) T) []T {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	stream := hash.Sum64()
	out := make([]T, trials)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(trials); i = next.Add(1) - 1 {
				out[i] = trial(newSource(s.seed, stream+uint64(i)))
			}
		})
	}
	workers.Wait()
	return out
}

// count is how many of results a condition holds for.
func count[T any](results []T, holds func(T) bool) proportion {
	p := proportion{of: len(results)}
	for _, r := range results {
		if holds(r) {
			p.hits++
		}
	}
	return p
}
