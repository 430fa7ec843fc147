package analyze

import "math"

// Noise is how a series varies while nothing happens: as a first-order autoregression.
type Noise struct {
	Variance    float64
	Correlation float64 // from one value to the next, 0 to 1
	Size        float64 // at least 1: how much more its long averages vary than the correlation explains
}

// NoiseOf is the noise of a series in which nothing happens.
func NoiseOf(values []float64) Noise {
	variance, n := varianceWithin([][]float64{values})
	if variance == 0 || n < 3 {
		return Noise{Variance: variance, Size: 1}
	}
	phi := lagOne(values)
	size := correlationTime([][]float64{values}) * (1 - phi) / (1 + phi)
	return Noise{Variance: variance, Correlation: phi, Size: max(size, 1)}
}

// lagOne is the correlation of neighbours around the mean, 0 to 0.98.
func lagOne(values []float64) float64 {
	m := mean(values)
	var products, squares float64
	for i, x := range values {
		squares += (x - m) * (x - m)
		if i > 0 {
			products += (x - m) * (values[i-1] - m)
		}
	}
	if squares == 0 {
		return 0
	}
	return min(max(products/squares, 0), 0.98)
}

// ChangePoints returns the indexes at which the level of a noisy series changes, rising. It finds the cheapest cut of the
// whole series (Jackson et al. 2005), where a piece costs the squares of its innovations around its own level and each
// cut costs four times log n innovations; then it moves each cut to where the noise before and after agree best. The noise
// being correlated, a jump of one standard deviation is seen more sharply than in the values themselves. It takes time
// proportional to n².
func ChangePoints(values []float64, noise Noise) []int {
	n := len(values)
	if n < 2 {
		return nil
	}
	p := newPieces(values, noise.Correlation)
	innovation := max(noise.Variance*(1-noise.Correlation*noise.Correlation), 1e-12)
	penalty := 4 * math.Log(float64(n)) * innovation * noise.Size

	cheapest := make([]float64, n+1) // of the first i values
	last := make([]int, n+1)         // where their last piece begins
	cheapest[0] = -penalty
	for end := 1; end <= n; end++ {
		cheapest[end] = math.Inf(1)
		for from := range end {
			if cost := cheapest[from] + penalty + p.cost(from, end); cost < cheapest[end] {
				cheapest[end], last[end] = cost, from
			}
		}
	}
	var cuts []int
	for end := last[n]; end > 0; end = last[end] {
		cuts = append([]int{end}, cuts...)
	}
	return p.refine(cuts)
}

// pieces computes the cost of any piece of a series from running sums.
type pieces struct {
	values   []float64
	phi      float64
	sum, sqr []float64 // over the values z[t] = x[t] − φ·x[t−1] before an index
}

func newPieces(values []float64, phi float64) pieces {
	p := pieces{values: values, phi: phi, sum: make([]float64, len(values)+1), sqr: make([]float64, len(values)+1)}
	for t, x := range values {
		z := x
		if t > 0 {
			z -= phi * values[t-1]
		}
		p.sum[t+1] = p.sum[t] + z
		p.sqr[t+1] = p.sqr[t] + z*z
	}
	return p
}

// fit returns the sums that the squares of a piece around a level m are made of: all − 2·m·cross + m²·weight. The first
// value of a piece owes nothing to the one before it.
func (p pieces) fit(from, end int) (all, cross, weight float64) {
	first := p.values[from]
	scale, step := 1-p.phi*p.phi, 1-p.phi
	z, zz, n := p.sum[end]-p.sum[from+1], p.sqr[end]-p.sqr[from+1], float64(end-from-1)
	return scale*first*first + zz, scale*first + step*z, scale + step*step*n
}

// cost is the sum of squares of a piece around the level that fits it best.
func (p pieces) cost(from, end int) float64 {
	all, cross, weight := p.fit(from, end)
	return all - cross*cross/weight
}

func (p pieces) level(from, end int) float64 {
	_, cross, weight := p.fit(from, end)
	return cross / weight
}

// refine moves each cut to where the innovations are smallest if the noise goes on across it and only the level jumps.
func (p pieces) refine(cuts []int) []int {
	const reach = 5
	bounds := append(append([]int{0}, cuts...), len(p.values))
	for k := 1; k < len(bounds)-1; k++ {
		before, cut, after := bounds[k-1], bounds[k], bounds[k+1]
		old, fresh := p.level(before, cut), p.level(cut, after)
		best, least := cut, math.Inf(1)
		from, end := max(before+1, cut-reach), min(after-1, cut+reach)
		for at := from; at <= end; at++ {
			var squares float64
			for t := from; t <= min(end+1, len(p.values)-1); t++ {
				e := p.above(t, at, old, fresh) - p.phi*p.above(t-1, at, old, fresh)
				squares += e * e
			}
			if squares < least {
				best, least = at, squares
			}
		}
		bounds[k] = best
	}
	return bounds[1 : len(bounds)-1]
}

// above is how far value t lies above the level, which changes at an index.
func (p pieces) above(t, change int, old, fresh float64) float64 {
	if t < change {
		return p.values[t] - old
	}
	return p.values[t] - fresh
}

// ofMean is the standard error of the mean of n values.
func (n Noise) ofMean(values int) float64 {
	tau := (1 + n.Correlation) / (1 - n.Correlation)
	return math.Sqrt(n.Variance * min(varianceOfMean(tau, float64(values))*n.Size, 1))
}
