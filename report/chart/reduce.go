package chart

import "math"

// Bucket gathers what fell into one interval of the x axis, so that no spike is lost when a long series is drawn.
type Bucket struct{ weight, sum, min, max float64 }

// Add counts a value with a weight, for example the length of its second.
func (b *Bucket) Add(v, weight float64) {
	if math.IsNaN(v) || weight <= 0 {
		return
	}
	if b.weight == 0 {
		b.min, b.max = v, v
	}
	b.weight += weight
	b.sum += v * weight
	b.min, b.max = min(b.min, v), max(b.max, v)
}

// Mean is the weighted mean, NaN for an empty bucket.
func (b Bucket) Mean() float64 { return b.sum / b.weight }

// Range is the smallest and the largest value, NaN for an empty bucket.
func (b Bucket) Range() (low, high float64) {
	if b.weight == 0 {
		return math.NaN(), math.NaN()
	}
	return b.min, b.max
}

// Grid cuts an interval of the x axis into equal buckets.
type Grid struct {
	From, Width float64
	Count       int
}

// widths are the lengths of buckets in seconds; a reader can name them.
var widths = [...]float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600}

// NewGrid cuts [from, to) into at most n buckets of a whole number of seconds.
func NewGrid(from, to float64, n int) Grid {
	n = max(n, 1)
	g := Grid{From: from, Width: math.Ceil((to - from) / float64(n))}
	for _, w := range widths {
		if (to-from)/w <= float64(n) {
			g.Width = w
			break
		}
	}
	g.Count = max(int(math.Ceil((to-from)/g.Width-1e-6)), 1)
	return g
}

// Index is the bucket that x falls into; ok is false outside the grid.
func (g Grid) Index(x float64) (i int, ok bool) {
	i = int(math.Floor((x - g.From) / g.Width))
	return i, i >= 0 && i < g.Count
}

// Xs are the middles of the buckets.
func (g Grid) Xs() Values {
	xs := make(Values, g.Count)
	for i := range xs {
		xs[i] = g.From + (float64(i)+0.5)*g.Width
	}
	return xs
}
