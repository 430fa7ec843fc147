package memory

import "plimsoll/engine"

// ghost remembers pages that left the cache, in the order in which they did. The depth of one that comes back is how many
// pages more the cache would have needed to still hold it.
type ghost struct {
	at   map[engine.Page]int // when it left, from 1
	tree []int32             // Fenwick tree over these moments: 1 where a page left then and has not come back
	now  int
}

func newGhost() *ghost { return &ghost{at: map[engine.Page]int{}, tree: make([]int32, 1<<12)} }

func (g *ghost) add(i int, n int32) {
	for ; i < len(g.tree); i += i & -i {
		g.tree[i] += n
	}
}

func (g *ghost) until(i int) (sum int) {
	for ; i > 0; i -= i & -i {
		sum += int(g.tree[i])
	}
	return sum
}

// len is how many pages are remembered.
func (g *ghost) len() int { return len(g.at) }

// left notes a page that leaves the cache.
func (g *ghost) left(p engine.Page) {
	if i, there := g.at[p]; there {
		g.add(i, -1)
	}
	if g.now+1 >= len(g.tree) {
		g.renumber()
	}
	g.now++
	g.at[p] = g.now
	g.add(g.now, 1)
}

// renumber closes the gaps that pages which came back have left, in a tree with as much room again.
func (g *ghost) renumber() {
	by := make([]engine.Page, g.now+1)
	gone := make([]bool, g.now+1)
	for p, i := range g.at {
		by[i], gone[i] = p, true
	}
	g.now, g.tree = 0, make([]int32, max(4*len(g.at), 1<<12))
	for i, p := range by {
		if gone[i] {
			g.now++
			g.at[p] = g.now
			g.add(g.now, 1)
		}
	}
}

// back takes a page out that comes back, and returns its depth: 1 for the one that left last.
func (g *ghost) back(p engine.Page) (depth int, known bool) {
	i, known := g.at[p]
	if !known {
		return 0, false
	}
	depth = g.until(g.now) - g.until(i-1)
	g.add(i, -1)
	delete(g.at, p)
	return depth, true
}
