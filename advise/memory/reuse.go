package memory

import (
	"math"
	"slices"
	"time"

	"plimsoll/engine"
)

const (
	perCache = 64            // bins of one size of the cache as it is
	bins     = perCache * 24 // of depths behind the cache

)

// Interval is what happened to the cache between two lists of its pages. Depths and ranks are in shares of the cache as it was.
type Interval struct {
	Seconds float64
	Pages   float64 // that the cache held
	Counts  Counts  // what the server counted meanwhile
	Loads   float64 // pages that came, as far as the lists show
	// Back counts pages that came back, by how much larger the cache should have been to hold them.
	Back []float64
	// Fresh counts pages that came and were not known to have left, by how many pages were then known to have left.
	Fresh []float64
	// Promoted counts pages that were used again, by how far back in the cache they stood.
	Promoted []float64
	Spaces   map[uint32]float64 // loads by the file of tables
	// MovedGaps and LoadedGaps count pages that were used again, by how many requests ago they were moved to the head or read before.
	MovedGaps, LoadedGaps []float64
}

// untilMoved is how long it takes, at the rates of this interval, until as much of the cache has moved as should between two lists.
func (i *Interval) untilMoved() time.Duration {
	replaced := float64(i.Counts.Read + i.Counts.Created)
	moved := replaced
	for _, n := range i.Promoted {
		moved += n
	}
	share := max(replaced/turnover, moved/movement) / max(i.Pages, 1) // of what should move
	return time.Duration(min(i.Seconds/max(share, 1e-9), time.Hour.Seconds()) * float64(time.Second))
}

// Counts is what a server counted over an interval.
type Counts struct {
	Requests, Waited, Read, Created, Statements, Commits, DiskReads, Written int64
}

// reuse follows one part of the cache from list to list.
type reuse struct {
	ghost *ghost
	ranks map[engine.Page]int32 // in the list before
	order []engine.Page         // of the list before
	total int
	last  map[engine.Page]use
	clock float64 // requests until the list before
}

func newReuse(first engine.PageList) *reuse {
	r := &reuse{ghost: newGhost(), last: map[engine.Page]use{}}
	r.keep(first)
	return r
}

func (r *reuse) keep(l engine.PageList) {
	r.order, r.total = l.Pages, l.Total
	r.ranks = make(map[engine.Page]int32, len(l.Pages))
	for i, p := range l.Pages {
		r.ranks[p] = l.Ranks[i]
	}
}

// next adds what a list shows that the one before did not. Each page stands for so many.
func (r *reuse) next(l engine.PageList, every float64, into *Interval) {
	here := make(map[engine.Page]bool, len(l.Pages))
	var came, stay []engine.Page // last used first
	var stayed []int32           // ranks before of those that stay
	young := 0                   // of those that came: read, used again and moved to the head
	for i, p := range l.Pages {
		here[p] = true
		if rank, before := r.ranks[p]; before {
			stay, stayed = append(stay, p), append(stayed, rank)
		} else {
			came = append(came, p)
			if float64(l.Ranks[i]) < 0.95*insertedAt*float64(l.Total) {
				young = len(came)
			}
		}
	}
	var went []engine.Page // the first to leave last
	for _, p := range r.order {
		if !here[p] {
			went = append(went, p)
		}
	}
	up := movedUp(stayed)
	moved := make([]engine.Page, len(up))
	for n, i := range up {
		moved[len(up)-1-n] = stay[i]
	}
	r.used(moved, func(int) bool { return true }, every, into)
	r.used(came, func(i int) bool { return i < young }, every, into)
	r.clock += float64(into.Counts.Requests)
	size := float64(max(r.total, 1)) / every // of this part, in pages that are followed
	slices.Reverse(came)
	slices.Reverse(went)
	for i, p := range came { // pages leave as others come
		for done := len(went) * i / len(came); done < len(went)*(i+1)/len(came); done++ {
			r.ghost.left(went[done])
		}
		into.Loads += every
		into.Spaces[p.Space()] += every
		if depth, known := r.ghost.back(p); known {
			into.Back[bin(float64(depth)/size)] += every
		} else {
			into.Fresh[bin(float64(r.ghost.len())/size)] += every
		}
	}
	if len(came) == 0 {
		for _, p := range went {
			r.ghost.left(p)
		}
	}
	ranks := make([]int32, len(up))
	for n, i := range up {
		ranks[n] = stayed[i]
	}
	r.promoted(ranks, float64(len(came)), every, into)
	r.keep(l)
}

const (
	// moreDeep is which part of the pages that moved up from behind another have done so before it was used: it stood that much deeper
	// then than on the list before. Half of them would have if each was used once; found on workloads with truth, see docs/accuracy.md.
	moreDeep = 0.25
	// insertedAt is where InnoDB puts a page that it reads, in shares of the cache: only those behind are pushed back by it.
	insertedAt = 5.0 / 8
)

// promoted counts pages that were used again where they stood by then.
func (r *reuse) promoted(up []int32, came, every float64, into *Interval) {
	slices.Sort(up)
	total := float64(max(r.total, 1))
	for n, rank := range up {
		depth := float64(rank) + moreDeep*every*float64(len(up)-1-n)
		if depth > insertedAt*total {
			depth += moreDeep * every * came
		}
		into.Promoted[min(int(depth/total*perCache), perCache-1)] += every
	}
}

// movedUp returns which pages, of which these are the former ranks, stand before one that stood before them, the last first: they were used again.
func movedUp(ranks []int32) (up []int) {
	lowest := int32(math.MaxInt32)
	for i, r := range slices.Backward(ranks) {
		if r > lowest {
			up = append(up, i)
		} else {
			lowest = r
		}
	}
	return up
}

func bin(caches float64) int { return min(int(caches*perCache), bins-1) }
