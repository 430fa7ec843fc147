package findings

import (
	"container/list"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
)

// lru is a cache that drops what was used longest ago.
type lru struct {
	room  int
	order list.List
	at    map[int]*list.Element
}

func (c *lru) has(key int) bool {
	if e, there := c.at[key]; there {
		c.order.MoveToFront(e)
		return true
	}
	c.at[key] = c.order.PushFront(key)
	if c.order.Len() > c.room {
		delete(c.at, c.order.Remove(c.order.Back()).(int))
	}
	return false
}

// simulated is what a pool of pages reads behind a cache of answers, for each request: 0 answers is no cache.
func simulated(l lookups, perPage, pool, answers int) (reads, answered float64) {
	sums := make([]float64, len(l))
	total := 0.0
	for i, rate := range l {
		total += rate
		sums[i] = total
	}
	r := rand.New(rand.NewPCG(3, 4))
	place := r.Perm(len(l))
	cache, pages := &lru{room: answers, at: map[int]*list.Element{}}, &lru{room: pool, at: map[int]*list.Element{}}
	const warm, measured = 200_000, 300_000
	for n := range warm + measured {
		key := min(sort.SearchFloat64s(sums, r.Float64()*total), len(l)-1)
		counts := 0.0
		if n >= warm {
			counts = 1.0 / measured
		}
		if answers > 0 && cache.has(key) {
			answered += counts
		} else if !pages.has(place[key] / perPage) {
			reads += counts
		}
	}
	return reads, answered
}

func TestWhatACacheAnswersAndThePoolStillReads(t *testing.T) {
	const rows, perPage = 20_000, 20
	for _, skew := range []float64{0, 0.6, 0.99} {
		for _, pool := range []int{100, 500} {
			for _, answers := range []int{1000, 5000} {
				l, _ := newLookups(rows, skew)
				before, _ := simulated(l, perPage, pool, 0)
				after, answered := simulated(l, perPage, pool, answers)
				through, share := l.behind(float64(answers))
				left := through.missed(perPage, float64(pool)) / l.missed(perPage, float64(pool))
				if math.Abs(left-after/before) > 0.03 || math.Abs(share-answered) > 0.02 {
					t.Errorf("skew %.2f, %d pages, %d answers: %.3f of the reads are left, simulated %.3f; %.3f are answered, simulated %.3f", skew, pool, answers, left, after/before, share, answered)
				}
			}
		}
	}
	l, _ := newLookups(rows, 0.5)
	if _, share := l.behind(rows); share != 1 || l.missed(perPage, rows/perPage) != 0 {
		t.Error("what holds all misses nothing")
	}
}

// A table of millions of rows is stood for by one of fewer, with caches so much smaller.
func TestALargeTableIsScaled(t *testing.T) {
	l, scale := newLookups(5e6, 0)
	if _, share := l.behind(1e6 * scale); math.Abs(share-0.2) > 0.01 {
		t.Errorf("a fifth of the keys answers %.3f", share)
	}
}
