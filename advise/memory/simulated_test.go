package memory

import (
	"container/list"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"plimsoll/advise"

	"plimsoll/engine"
)

// cache drops what was used longest ago.
type cache struct {
	size  int
	order *list.List
	at    map[engine.Page]*list.Element
	reads int64
}

func newCache(size int) *cache {
	return &cache{size: size, order: list.New(), at: map[engine.Page]*list.Element{}}
}

func (c *cache) use(p engine.Page) {
	if e, held := c.at[p]; held {
		c.order.MoveToFront(e)
		return
	}
	c.reads++
	if c.order.Len() == c.size {
		last := c.order.Back()
		delete(c.at, last.Value.(engine.Page))
		c.order.Remove(last)
	}
	c.at[p] = c.order.PushFront(p)
}

func (c *cache) list() (l engine.PageList) {
	for e := c.order.Front(); e != nil; e = e.Next() {
		l.Ranks = append(l.Ranks, int32(len(l.Pages)))
		l.Pages = append(l.Pages, e.Value.(engine.Page))
	}
	l.Total = len(l.Pages)
	return l
}

// draws is a sequence of pages, the same for every cache.
func draws(seed uint64, pages int, skew float64) func() engine.Page {
	rng := rand.New(rand.NewPCG(seed, 1))
	sums, all := make([]float64, pages), 0.0
	for i := range sums {
		all += math.Pow(float64(i+1), -skew)
		sums[i] = all
	}
	return func() engine.Page {
		u := rng.Float64() * all
		low, high := 0, pages-1
		for low < high {
			if mid := (low + high) / 2; sums[mid] < u {
				low = mid + 1
			} else {
				high = mid
			}
		}
		return engine.Page(mix64(uint64(low)))
	}
}

func (c *cache) count() int64 { return c.reads }

// simulated is a cache that pages are asked of.
type simulated interface {
	use(p engine.Page)
	list() engine.PageList
	count() int64
}

// lookAt lists a simulated cache between stretches of uses.
func lookAt(c simulated, next func() engine.Page, lists, between, every int) []Interval {
	for range 40_000 {
		c.use(next())
	}
	r := newReuse(sampled(c.list(), every))
	var out []Interval
	for range lists {
		before := c.count()
		for range between {
			c.use(next())
		}
		i := Interval{
			Seconds: 1, Pages: float64(r.total), Back: make([]float64, bins), Fresh: make([]float64, bins), Promoted: make([]float64, perCache),
			Spaces: map[uint32]float64{}, Counts: Counts{Requests: int64(between), Read: c.count() - before},
		}
		r.next(sampled(c.list(), every), float64(every), &i)
		out = append(out, i)
	}
	return out
}

func TestPredictionsOfACacheThatDropsTheLeastRecentlyUsed(t *testing.T) {
	const size, pages, seed = 2000, 9000, 7
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		skew  float64
		every int
		most  float64
	}{{0.6, 1, 0.04}, {0.9, 1, 0.04}, {1.1, 1, 0.05}, {0.9, 4, 0.10}} {
		intervals := lookAt(newCache(size), draws(seed, pages, c.skew), 200, 400, c.every)
		var sizes []int64
		times := []float64{0.5, 0.75, 1.5, 2, 2.5}
		for _, x := range times {
			sizes = append(sizes, int64(x*size))
		}
		curve := Predict(intervals, engine.PageCache{Pages: size, Size: size, PageSize: 1}, pages, sizes, seed)
		within := 0
		for i, x := range times {
			other, next := newCache(int(x*size)), draws(seed+1, pages, c.skew)
			for range 60_000 {
				other.use(next())
			}
			other.reads = 0
			for range 40_000 {
				other.use(next())
			}
			truth, p := float64(other.reads)/100, curve.Points[i]
			if off := p.Reads/truth - 1; math.Abs(off) > c.most {
				t.Errorf("skew %v, one of %d, %v times the cache: %.1f reads predicted, %.1f came", c.skew, c.every, x, p.Reads, truth)
			}
			if p.Low <= truth && truth <= p.High {
				within++
			}
			if off := p.Model/truth - 1; math.Abs(off) > 0.15 {
				t.Errorf("skew %v: the model says %.1f at %v times the cache, %.1f came", c.skew, p.Model, x, truth)
			}
		}
		if within < 4 {
			t.Errorf("skew %v: %d of 5 intervals hold the truth", c.skew, within)
		}
	}
}

// However often lists are taken, the same is predicted: what came back between two of them is made up for.
func TestPredictionsDoNotDependOnHowOftenListsAreTaken(t *testing.T) {
	const size, pages, seed = 2000, 9000, 11
	t.Logf("seed %d", seed)
	sizes := []int64{3000, 4000, 5000}
	var often []advise.Point
	for _, between := range []int{200, 1600, 6400} {
		intervals := lookAt(newCache(size), draws(seed, pages, 0.9), 160_000/between, between, 1)
		points := Predict(intervals, engine.PageCache{Pages: size, Size: size, PageSize: 1}, pages, sizes, seed).Points
		replaced := intervals[len(intervals)-1].Loads / size
		for n := range points {
			points[n].Reads /= float64(between)
		}
		if often == nil {
			often = points
		}
		for n, p := range points {
			off := p.Reads/often[n].Reads - 1
			t.Logf("%.2f of the cache replaced between lists, %v times the cache: %+.1f %%", replaced, p.Times, 100*off)
			if math.Abs(off) > 0.08 {
				t.Errorf("%.2f of the cache replaced between lists, %v times the cache: %.4f reads, with lists often %.4f", replaced, p.Times, p.Reads, often[n].Reads)
			}
		}
	}
}

// Smaller caches are told by pages that are used again, which is seen as long as no more than movement of the cache has moved between two lists.
func TestPredictionsOfSmallerCachesDoNotDependOnHowOftenListsAreTaken(t *testing.T) {
	const size, pages, seed = 2000, 9000, 13
	t.Logf("seed %d", seed)
	for _, skew := range []float64{0.7, 1.2} {
		var often []advise.Point
		for _, between := range []int{400, 1200, 3600, 10_800} {
			intervals := lookAt(newCache(size), draws(seed, pages, skew), 160_000/between, between, 1)
			points := Predict(intervals, engine.PageCache{Pages: size, Size: size, PageSize: 1}, pages, []int64{1000, 1500}, seed).Points
			last := intervals[len(intervals)-1]
			wait := last.untilMoved().Seconds() // in intervals
			if often == nil {
				often = points
			}
			for n, p := range points {
				off := p.Reads/float64(between)/(often[n].Reads/400) - 1
				t.Logf("skew %v, %d uses between lists, %v times the cache: %+.1f %%; the next list after %.1f intervals", skew, between, p.Times, 100*off, wait)
				if wait >= 1 && math.Abs(off) > 0.08 {
					t.Errorf("skew %v, %d uses between lists, %v times the cache: %+.1f %% off what lists taken often say", skew, between, p.Times, 100*off)
				}
			}
		}
	}
}

func TestWhatWasNotSeenIsNotPromised(t *testing.T) {
	intervals := lookAt(newCache(2000), draws(3, 20_000, 0.3), 10, 200, 1) // as much as half a cache comes
	curve := Predict(intervals, engine.PageCache{Pages: 2000, Size: 2000, PageSize: 1}, 20_000, []int64{2000, 6000, 20_000}, 1)
	if p := curve.Points[1]; p.Source != advise.FromModel || p.Doubt == "" {
		t.Errorf("three times the cache after half a cache of history: %+v", p)
	}
	if p := curve.Points[2]; p.Source != advise.AllData || p.Reads != 0 {
		t.Errorf("a cache for all data: %+v", p)
	}
	if curve.Knee != 0 || curve.AllData != 20_000 {
		t.Errorf("a knee at %d, all data fits into %d", curve.Knee, curve.AllData)
	}
}

// Of more memory than the lists tell of, no more reads are possible than of less.
func TestMoreMemoryMayNotReadMore(t *testing.T) {
	const size, pages, seed = 2000, 9000, 7
	t.Logf("seed %d", seed)
	intervals := lookAt(newCache(size), draws(seed, pages, 0.9), 30, 400, 1)
	var sizes []int64
	for more := int64(size); more < pages; more += size / 10 {
		sizes = append(sizes, more)
	}
	points := Predict(intervals, engine.PageCache{Pages: size, Size: size, PageSize: 1}, pages, sizes, seed).Points
	if unseen := noMoreWithMore(t, points); unseen < 10 {
		t.Errorf("of %d sizes the lists do not tell", unseen)
	}
}

// noMoreWithMore looks that of sizes of which the lists do not tell no larger one may read more, and returns how many there are after the first.
func noMoreWithMore(t *testing.T, points []advise.Point) (unseen int) {
	t.Helper()
	for n, p := range points[1:] {
		if before := points[n]; p.Source == advise.FromModel && before.Source == advise.FromModel {
			unseen++
			if p.High > before.High || p.Reads > before.Reads {
				t.Errorf("%v times the cache: %.1f and up to %.1f, with less memory %.1f and up to %.1f", p.Times, p.Reads, p.High, before.Reads, before.High)
			}
		}
	}
	return unseen
}

// Where reads fall more steeply than the model's beyond the end of the lists, the two methods get farther apart with more memory, and still no more
// reads are possible than at the last size that the lists know.
func TestNoMoreIsPossibleThanWhereTheListsEnd(t *testing.T) {
	fit := model{skew: 0.3, pages: 8}
	fit.now = fit.reads(1)
	lists := shape{seconds: 1, rate: 100, known: 1.5, more: make([]float64, perCache+1)}
	for b := range perCache/2 + 1 { // as the model's for three eighths of a cache, and a quarter below it at the end
		times := 1 + float64(b)/perCache
		lists.survival = append(lists.survival, fit.share(times)*(1-max(times-1.375, 0)*2))
	}
	if by := lists.steeper(fit); by <= 1 {
		t.Fatalf("the lists fall %v times as steeply as the model", by)
	}
	points := []advise.Point{predict(1500, lists.known, lists, []shape{lists}, fit, 8)}
	points[0].Source = advise.FromModel // as those to which it is compared
	for size := int64(1550); size < 4000; size += 50 {
		points = append(points, predict(size, float64(size)/1000, lists, []shape{lists}, fit, 8))
	}
	if unseen := noMoreWithMore(t, points); unseen < 20 {
		t.Errorf("of %d sizes the lists do not tell", unseen)
	}
	if apart := func(p advise.Point) float64 { return p.Model / p.Reads }; apart(points[10]) < 1.1*apart(points[0]) {
		t.Errorf("the methods are not farther apart beyond the end: %+v, and there %+v", points[10], points[0])
	}
}

func TestPagesThatWereMadeWereNotRead(t *testing.T) {
	i := Interval{Seconds: 1, Pages: 100, Back: make([]float64, bins), Fresh: make([]float64, bins), Promoted: make([]float64, perCache),
		Counts: Counts{Read: 100, Created: 300}}
	i.Back[10], i.Fresh[500] = 50, 350
	s := newSum()
	s.add(&i, 1)
	if got := s.shape().share(1.5); math.Abs(got-0.5) > 0.01 {
		t.Errorf("half of what was read came back from close by: %.2f of the reads are left", got)
	}
}

func TestGhost(t *testing.T) {
	g := newGhost()
	for p := range engine.Page(10_000) {
		g.left(p)
	}
	for p := engine.Page(0); p < 9_990; p += 2 {
		g.back(p)
	}
	if depth, known := g.back(9_989); !known || depth != 11 {
		t.Errorf("depth %d, %t", depth, known)
	}
	if _, known := g.back(0); known {
		t.Error("a page comes back twice")
	}
	if g.len() != 10_000-4_995-1 {
		t.Errorf("%d pages are remembered", g.len())
	}
}

func TestMovedUp(t *testing.T) {
	if got := movedUp([]int32{5, 0, 1, 3, 2, 4}); !slices.Equal(got, []int{3, 0}) { // those that stood at 3 and 5
		t.Errorf("%v", got)
	}
}
