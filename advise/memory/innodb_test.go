package memory

import (
	"container/list"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"plimsoll/engine"
)

// innodb is a cache in two parts, as InnoDB's: what is read stands at the head of the old part, what is used there moves to the head of the young one, and
// a page of the young part is not moved again before a quarter of it was evicted.
type innodb struct {
	size       int
	young, old *list.List
	at         map[engine.Page]*innodbPage
	evicted    int
	reads      int64
	asked      int64
	made       int64 // pages
}

type innodbPage struct {
	page  engine.Page
	in    *list.Element
	young bool
	moved int // when, in evictions
}

func newInnoDB(size int) *innodb {
	return &innodb{size: size, young: list.New(), old: list.New(), at: map[engine.Page]*innodbPage{}}
}

func (c *innodb) use(p engine.Page) {
	c.asked++
	switch e := c.at[p]; {
	case e == nil:
		c.reads++
		if len(c.at) == c.size {
			last := c.old.Back()
			delete(c.at, last.Value.(*innodbPage).page)
			c.old.Remove(last)
			c.evicted++
		}
		e = &innodbPage{page: p, moved: c.evicted}
		e.in, c.at[p] = c.old.PushFront(e), e
	case e.young:
		if c.evicted >= e.moved+int(shownAfter*float64(c.size)) {
			c.young.MoveToFront(e.in)
			e.moved = c.evicted
		}
	default:
		c.old.Remove(e.in)
		e.in, e.young, e.moved = c.young.PushFront(e), true, c.evicted
	}
	for c.young.Len() > int(insertedAt*float64(len(c.at))) {
		c.between(c.young, c.old, c.young.Back(), c.old.PushFront)
	}
	for c.young.Len() < int(insertedAt*float64(len(c.at))) {
		c.between(c.old, c.young, c.old.Front(), c.young.PushBack)
	}
}

// create makes a page, which is not read.
func (c *innodb) create(p engine.Page) {
	before := c.reads
	c.use(p)
	c.reads = before
	c.made++
}

// between moves a page over the border of the two parts.
func (c *innodb) between(from, to *list.List, e *list.Element, push func(any) *list.Element) {
	p := e.Value.(*innodbPage)
	from.Remove(e)
	p.in, p.young = push(p), to == c.young
}

func (c *innodb) count() int64 { return c.reads }

func (c *innodb) list() (l engine.PageList) {
	for _, part := range []*list.List{c.young, c.old} {
		for e := part.Front(); e != nil; e = e.Next() {
			l.Ranks = append(l.Ranks, int32(len(l.Pages)))
			l.Pages = append(l.Pages, e.Value.(*innodbPage).page)
		}
	}
	l.Total = len(l.Pages)
	return l
}

func TestValuesFall(t *testing.T) {
	values := []float64{9, 5, 7, 3, 4, 5, 1}
	falling(values)
	if want := []float64{9, 6, 6, 4, 4, 4, 1}; !slices.Equal(values, want) {
		t.Errorf("%v, want %v", values, want)
	}
}

// Where the server moves hardly a page of its young part, since it evicts few, uses that follow each other closely leave no trace on its lists: of two
// tables of which the hot one fills much of the cache, half of the cache would read twice what promotions alone tell.
func TestSmallerCachesWhereTheServerMovesFewPages(t *testing.T) {
	const size, seed = 1500, 17
	t.Logf("seed %d", seed)
	heats := func(seed uint64) func() engine.Page {
		rng := rand.New(rand.NewPCG(seed, 1))
		return func() engine.Page {
			if rng.Float64() < 0.97 {
				return engine.Page(mix64(uint64(rng.IntN(size * 3 / 4))))
			}
			return engine.Page(mix64(uint64(size + rng.IntN(4*size))))
		}
	}
	for name, c := range map[string]struct {
		draws   func(seed uint64) func() engine.Page
		between int
		most    float64
		hidden  bool
	}{
		"two heats": {heats, 300, 0.3, true},
		"skew 1.3":  {func(seed uint64) func() engine.Page { return draws(seed, 4*size, 1.3) }, 700, 0.12, false},
	} {
		intervals := lookAt(newInnoDB(size), c.draws(seed), 150, c.between, 1)
		times := []float64{0.4, 0.5, 0.75}
		curve := Predict(intervals, engine.PageCache{Pages: size, Size: size, PageSize: 1}, 0, []int64{600, 750, 1125}, seed)
		s := newSum()
		for i := range intervals {
			s.add(&intervals[i], 1)
		}
		shape := s.shape()
		for i, x := range times {
			other, next := newInnoDB(int(x*size)), c.draws(seed+1)
			const uses = 30 * size
			for range uses {
				other.use(next())
			}
			other.reads = 0
			for range uses {
				other.use(next())
			}
			truth := float64(other.reads) / uses * float64(c.between)
			p := curve.Points[i]
			alone := shape.rate * (1 + between(shape.more, x*perCache))
			t.Logf("%s, %v times the cache: %.1f reads predicted, %.1f came: %+.0f %%; by promotions alone %+.0f %%, which tell too little up to %.2f",
				name, x, p.Reads, truth, 100*(p.Reads/truth-1), 100*(alone/truth-1), shape.hiddenUpTo)
			if off := p.Reads/truth - 1; math.Abs(off) > c.most {
				t.Errorf("%s, %v times the cache: %.1f reads predicted, %.1f came", name, x, p.Reads, truth)
			}
			if p.Low > truth || p.High < truth {
				t.Errorf("%s, %v times the cache: %.1f came, which %.1f to %.1f does not hold", name, x, truth, p.Low, p.High)
			}
			if hidden := x < shape.hiddenUpTo; hidden != (c.hidden && x < 0.7) {
				t.Errorf("%s, %v times the cache: promotions tell too little up to %v", name, x, shape.hiddenUpTo)
			}
		}
	}
}
