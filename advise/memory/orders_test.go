package memory

import (
	"math/rand/v2"
	"testing"

	"plimsoll/advise"
	"plimsoll/engine"
)

// The tables of a warehouse, as they lie in pages.
const (
	districts      = 10
	stockPages     = 2000
	customerPages  = 116 // of a district
	itemPages      = 590
	historyPages   = 176
	ordersAtFirst  = 3000 // of a district
	linesPages     = 10 * ordersAtFirst / perLinesPage
	perLinesPage   = 200
	perHistoryPage = 170
)

// orders asks for pages as the five transactions of TPC-C do with one warehouse: the stock of the last orders of a district is read at once, new orders
// make pages, and old ones are delivered in turn.
type orders struct {
	c                   *innodb
	rng                 *rand.Rand
	next, delivered     [districts]int
	customer            [districts][]int   // of each order
	last                [districts][]int   // order of each customer
	bought              [districts][][]int // items of the last 20 orders
	lines               [districts]int     // pages that there are
	history, historyEnd int
}

func newOrders(c *innodb, seed uint64) *orders {
	s := &orders{c: c, rng: rand.New(rand.NewPCG(seed, 1)), history: historyPages * perHistoryPage, historyEnd: historyPages}
	for d := range districts {
		s.next[d], s.delivered[d], s.lines[d] = ordersAtFirst, ordersAtFirst*7/10, linesPages
		s.customer[d] = s.rng.Perm(3000)
		s.last[d] = make([]int, 3000)
		for o, c := range s.customer[d] {
			s.last[d][c] = o
		}
		for range 20 {
			s.bought[d] = append(s.bought[d], s.basket())
		}
	}
	for _, table := range [][2]int{{'c', districts * customerPages}, {'h', historyPages}, {'i', itemPages}, {'s', stockPages}} {
		for n := range table[1] {
			s.read(table[0], n)
		}
	}
	for d := range districts {
		for n := range linesPages {
			s.read('l', d<<20|n)
		}
	}
	return s
}

func (s *orders) read(table, n int) { s.c.use(engine.Page(mix64(uint64(table)<<40 | uint64(n)))) }

// unevenly draws as TPC-C does.
func (s *orders) unevenly(a, n int) int { return (s.rng.IntN(a+1) | s.rng.IntN(n)) % n }

func (s *orders) basket() (items []int) {
	for range 5 + s.rng.IntN(11) {
		items = append(items, s.unevenly(8191, 100_000))
	}
	return items
}

func (s *orders) someone(d int) int {
	if s.rng.IntN(10) >= 6 {
		c := s.unevenly(1023, 3000)
		s.read('c', d*customerPages+c/26)
		return c
	}
	name, c := s.unevenly(255, 1000), 0 // of which there are three
	s.read('n', d*9+name/111)
	for k := range uint64(3) {
		c = int(mix64(uint64(d*1000+name)*3+k) % 3000)
		s.read('c', d*customerPages+c/26)
	}
	return c
}

func (s *orders) line(d, order, n int) {
	if at := (10*order + n%10) / perLinesPage; at >= s.lines[d] {
		s.lines[d]++
		s.c.create(engine.Page(mix64('l'<<40 | uint64(d<<20|at))))
	} else {
		s.read('l', d<<20|at)
	}
}

func (s *orders) do() {
	d := s.rng.IntN(districts)
	switch kind := s.rng.IntN(100); {
	case kind < 45:
		s.order(d)
	case kind < 88: // a payment
		s.someone(d)
		if s.history++; s.history/perHistoryPage >= s.historyEnd {
			s.historyEnd++
			s.c.create(engine.Page(mix64('h'<<40 | uint64(s.historyEnd-1))))
		} else {
			s.read('h', s.history/perHistoryPage)
		}
	case kind < 92: // the status of an order
		o := s.last[d][s.someone(d)]
		s.read('o', d<<20|o/300)
		s.line(d, o, 0)
	case kind < 96: // a delivery
		for d := range districts {
			if o := s.delivered[d]; o < s.next[d] {
				s.delivered[d]++
				s.read('o', d<<20|o/300)
				s.line(d, o, 0)
				s.read('c', d*customerPages+s.customer[d][o]/26)
			}
		}
	default: // the level of the stock
		for o, items := range s.bought[d] {
			s.line(d, s.next[d]-20+o, 0)
			for _, i := range items {
				s.read('s', i/50)
			}
		}
	}
}

func (s *orders) order(d int) {
	c, o, items := s.unevenly(1023, 3000), s.next[d], s.basket()
	s.next[d]++
	s.read('c', d*customerPages+c/26)
	for n, i := range items {
		s.read('i', i/170)
		s.read('s', i/50)
		s.line(d, o, n)
	}
	s.read('o', d<<20|o/300)
	s.customer[d], s.last[d][c], s.bought[d] = append(s.customer[d], c), o, append(s.bought[d][1:], items)
}

// Beyond the last size of which lists tell, reads go on falling: not as flat as the model where the lists fell more steeply, and not as steeply as they did
// there. Of orders, four turnovers tell up to twice the cache.
func TestReadsGoOnFallingWhereTheListsEnd(t *testing.T) {
	const size, pages, seed = 1900, 7800, 19
	t.Logf("seed %d", seed)
	s := newOrders(newInnoDB(size), seed)
	until := func(turnovers float64) (did int) {
		for from := s.c.reads; s.c.reads < from+int64(turnovers*size); did++ {
			s.do()
		}
		return did
	}
	until(4)
	var intervals []Interval
	did, r := 0, newReuse(s.c.list())
	for range 72 {
		asked, reads, made := s.c.asked, s.c.reads, s.c.made
		did += until(4. / 72)
		i := Interval{
			Seconds: 1, Pages: float64(r.total), Back: make([]float64, bins), Fresh: make([]float64, bins), Promoted: make([]float64, perCache),
			Spaces: map[uint32]float64{}, Counts: Counts{Requests: s.c.asked - asked, Read: s.c.reads - reads, Created: s.c.made - made},
		}
		r.next(s.c.list(), 1, &i)
		intervals = append(intervals, i)
	}
	times := []float64{1.5, 1.75, 2, 2.25, 2.5}
	var sizes []int64
	for _, x := range times {
		sizes = append(sizes, int64(x*size))
	}
	cache := engine.PageCache{Pages: size, Size: size, PageSize: 1}
	curve := Predict(intervals, cache, pages, sizes, seed)
	var between []int64
	for more := int64(1.8 * size); more < 3*size; more += size / 50 {
		between = append(between, more)
	}
	if unseen := noMoreWithMore(t, Predict(intervals, cache, pages, between, seed).Points); unseen < 20 {
		t.Errorf("of %d sizes the lists do not tell", unseen)
	}
	now := 4 * size / float64(did)
	for n, x := range times {
		other := newOrders(newInnoDB(int(x*size)), seed+1)
		const operations = 15_000
		for range operations {
			other.do()
		}
		other.c.reads = 0
		for range operations {
			other.do()
		}
		truth, p := float64(other.c.reads)/operations, curve.Points[n]
		predicted, model := p.Reads/curve.Now.Reads*now, p.Model/curve.Now.Reads*now
		off := predicted/max(truth, 0.02*now) - 1
		t.Logf("%v times the cache (%s): %.4f reads an operation predicted, %.4f came: %+.0f %%; the model says %.4f", x, p.Source, predicted, truth, 100*off, model)
		if off < -0.4 || off > 0.4 {
			t.Errorf("%v times the cache: %.4f reads an operation predicted, %.4f came", x, predicted, truth)
		}
		if p.High/curve.Now.Reads*now < truth || p.Source == advise.FromModel && (p.Doubt == "" || p.Low > 0) {
			t.Errorf("%v times the cache: %.4f came, and %+v is promised", x, truth, p)
		}
	}
	if p := curve.Points[len(times)-1]; p.Source != advise.FromModel || p.Model < 5*p.Reads {
		t.Errorf("the lists tell of 2.5 times the cache, or the model agrees with them: %+v", p)
	}
}
