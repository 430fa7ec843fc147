package memory

import (
	"math"

	"plimsoll/engine"
)

// A page that InnoDB has moved to the head of its list is not moved again before a quarter of the list's young part, 5/8 of it, was evicted. So where
// most requests are answered from memory, uses of the same page that follow each other sooner leave no trace on the lists: of a cache that is as
// small as that, promotions tell too little. What is seen there are the gaps from one move to the next, and these are lengthened by the time in which
// nothing is shown, as a counter's are by its dead time.
const shownAfter = insertedAt / 4

const (
	gapRatio = 1.05 // from one bin of gaps to the next
	gapBins  = 600  // up to 5 · 10^12 requests
)

// use is the last that lists showed of a page: when, in requests of pages, and whether it was moved to the head then. A page that was read stands
// among the old ones, which are moved whenever they are used.
type use struct {
	at    float64
	moved bool
}

// used notes pages that were moved or that came between two lists, the last used first, and how long before they were seen used.
func (r *reuse) used(pages []engine.Page, moved func(int) bool, every float64, into *Interval) {
	if into.MovedGaps == nil {
		into.MovedGaps, into.LoadedGaps = make([]float64, gapBins), make([]float64, gapBins)
	}
	for i, p := range pages {
		at := r.clock + float64(into.Counts.Requests)*(1-(float64(i)+0.5)/float64(len(pages)))
		if before, known := r.last[p]; known {
			gaps := into.LoadedGaps
			if before.moved {
				gaps = into.MovedGaps
			}
			gaps[gapBin(at-before.at)] += every
		}
		r.last[p] = use{at, moved(i)}
	}
}

func gapBin(gap float64) int {
	return min(int(math.Log(max(gap, 1))/math.Log(gapRatio)), gapBins-1)
}

// gapAt is where a bin begins.
func gapAt(bin int) float64 { return math.Pow(gapRatio, float64(bin)) }

// gapsAbove are gaps longer than each bin's beginning, each weighted by the inverse of its chance to be seen whole.
type gapsAbove []float64

func newGapsAbove(gaps []float64, all float64) gapsAbove {
	above := make(gapsAbove, len(gaps)+2)
	for b := len(gaps) - 1; b >= 0; b-- {
		above[b] = above[b+1] + gaps[b]/max(1-gapAt(b)/all, 0.1)
	}
	return above
}

// at is how many are longer, and how many a request there are of just that length.
func (g gapsAbove) at(gap float64) (longer, density float64) {
	if len(g) < 3 {
		return 0, 0
	}
	b := min(gapBin(gap), len(g)-3)
	from, to := gapAt(b), gapAt(b+1)
	longer = g[b] - (g[b]-g[b+1])*min(max((gap-from)/(to-from), 0), 1)
	before := max(b-1, 0)
	return longer, (g[before] - g[b+2]) / (gapAt(b+2) - gapAt(before))
}

// hidden tells what part of today's reads smaller caches would have, by bin, from the gaps between uses, and up to which size promotions tell too
// little for it; 0: of no size.
//
// If a page is used by chance at a rate of its own, a gap that is seen is the time in which nothing is shown and what is left until the next use, so
// that the uses of which the gap before is longer than t are those gaps longer than that time and t, and that time times their density there. The
// pages used within t grow by as many as are used after a longer gap (Denning and Schwartz 1972): the t at which they fill a cache gives its reads.
func (s *sum) hidden() (share []float64, upTo float64) {
	if s.requests == 0 || s.seen == 0 || s.moved == 0 {
		return nil, 0
	}
	held := s.pages / s.seconds
	upTo = min(insertedAt, shownAfter*s.moved/s.seen)
	dead := min(shownAfter*held*s.requests/s.seen, insertedAt*held*s.requests/s.moved)
	moved, loaded := newGapsAbove(s.movedGaps, s.requests), newGapsAbove(s.loadedGaps, s.requests)
	known := 0.0
	for _, g := range []gapsAbove{moved, loaded} {
		if len(g) > 0 {
			known += g[0]
		}
	}
	unknown := max(s.moved+s.seen-known, 0) // of pages that were not seen used before
	missed := func(t float64) float64 {
		a, _ := loaded.at(t)
		b, density := moved.at(dead + t)
		return (unknown + a + b + dead*density) / s.requests
	}
	const steps, most = 40, 4000
	step := dead / steps
	reads, set := []float64{missed(0)}, []float64{0}
	for n := 1; reads[n-1] > s.seen/s.requests && set[n-1] < 1.3*held && n < most; n++ {
		reads = append(reads, missed(float64(n)*step))
		set = append(set, set[n-1]+step*(reads[n]+reads[n-1])/2)
	}
	falling(reads)
	for n := 1; n < len(set); n++ {
		set[n] = set[n-1] + step*(reads[n]+reads[n-1])/2
	}
	last := len(set) - 1
	if set[last] >= 1.3*held { // longer gaps were not seen
		for last > 0 && set[last] > held {
			last--
		}
	}
	return byPages(set[:last+1], reads), upTo
}

// byPages are reads by how many pages were used, as shares of the last, for each bin of the last number of pages.
func byPages(set, reads []float64) []float64 {
	share, last, n := make([]float64, perCache+1), len(set)-1, 0
	for b := range share {
		for n < last && set[n] < set[last]*float64(b)/perCache {
			n++
		}
		share[b] = reads[n] / max(reads[last], 1e-12)
	}
	return share
}

// falling makes values fall, which it replaces by their mean where they rise (pool adjacent violators: Ayer and others 1955): a longer gap is no more
// frequent than a shorter one.
func falling(values []float64) {
	type pool struct{ sum, n float64 }
	var pools []pool
	for _, v := range values {
		p := pool{v, 1}
		for len(pools) > 0 && pools[len(pools)-1].sum/pools[len(pools)-1].n < p.sum/p.n {
			before := pools[len(pools)-1]
			p, pools = pool{p.sum + before.sum, p.n + before.n}, pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	i := 0
	for _, p := range pools {
		for range int(p.n) {
			values[i] = p.sum / p.n
			i++
		}
	}
}
