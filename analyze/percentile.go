package analyze

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/series"
)

// Percentile is the time at quantile q (0 to 1) of all the operations of the seconds together, in milliseconds: their
// histograms are merged, never their percentiles averaged.
func Percentile(q float64, of Timing) Statistic { return percentile{q: q, of: of} }

type percentile struct {
	q  float64
	of Timing
}

// Sample implements Statistic. Merging histograms anew for each replicate would cost a millisecond; a percentileSample finds
// the quantile of any weighting of its seconds in microseconds instead.
func (p percentile) Sample(seconds []Second) Sample {
	times := make([]series.Snapshot, len(seconds))
	for i, s := range seconds {
		times[i] = p.of(s)
	}
	return newPercentileSample(p.q, times)
}

// percentileSample holds the buckets that can hold the quantile, sorted, and a coarse grid over them that says how many
// of each second's operations lie below each of its lines. The quantile of a weighting is found by bisection on the
// grid, one weighted sum a step, then by walking through one cell.
type percentileSample struct {
	q      float64
	counts []int64 // operations by second
	merged series.Snapshot
	pull   []float64

	entries []entry   // by rising value
	lines   []int     // index of the first entry of each cell of the grid; cells end where the value changes
	below   [][]int32 // for each line, by second: operations under the value of the line's entry
}

// entry is one bucket of one second.
type entry struct {
	value  time.Duration
	second int32
	count  int32
}

func newPercentileSample(q float64, times []series.Snapshot) *percentileSample {
	s := &percentileSample{
		q: q, counts: make([]int64, len(times)), merged: series.Merge(times...).Snapshot(), pull: make([]float64, len(times)),
	}
	for i, t := range times {
		s.counts[i] = t.Count()
	}
	if s.merged.Count() == 0 {
		return s
	}
	lowest, highest := reach(q, times)
	under := make([]int32, len(times)) // operations below the window, by second
	at := s.merged.Quantile(q)
	for i, t := range times {
		var upTo int64
		for value, n := range t.Buckets() {
			if value <= at {
				upTo += n
			}
			switch {
			case value < lowest:
				under[i] += int32(n)
			case value <= highest:
				s.entries = append(s.entries, entry{value: value, second: int32(i), count: int32(n)})
			}
		}
		s.pull[i] = float64(t.Count()-upTo) - (1-q)*float64(t.Count())
	}
	slices.SortFunc(s.entries, func(a, b entry) int { return int(a.value - b.value) })
	s.draw(under)
	return s
}

// reach returns the range in which the quantile of every weighting lies: a mixture's quantile lies between the least and
// the greatest of its parts. Ranks are rounded outwards.
func reach(q float64, times []series.Snapshot) (lowest, highest time.Duration) {
	lowest = math.MaxInt64
	for _, t := range times {
		rank := int64(q * float64(t.Count()))
		first, last := max(rank-1, 1), rank+2
		var seen int64
		for value, n := range t.Buckets() {
			if seen < first && seen+n >= first {
				lowest = min(lowest, value)
			}
			highest = max(highest, value)
			if seen += n; seen >= last {
				break
			}
		}
	}
	return lowest, highest
}

// draw lays the grid: cells of about as many entries as there are seconds, so that a step of the bisection and the walk
// through a cell cost alike.
func (s *percentileSample) draw(under []int32) {
	size := max(len(s.counts), 16)
	for i := 0; i < len(s.entries); {
		s.lines = append(s.lines, i)
		s.below = append(s.below, slices.Clone(under))
		end := min(i+size, len(s.entries))
		for end < len(s.entries) && s.entries[end].value == s.entries[end-1].value {
			end++
		}
		for _, e := range s.entries[i:end] {
			under[e.second] += e.count
		}
		i = end
	}
}

func (s *percentileSample) Value(weights []int32) float64 {
	var total int64
	for i, w := range weights {
		total += int64(w) * s.counts[i]
	}
	if total == 0 {
		return math.NaN()
	}
	rank := min(max(int64(s.q*float64(total)+0.5), 1), total)

	// The last line with fewer than rank operations below it.
	low, high := 0, len(s.lines)
	for high-low > 1 {
		if middle := (low + high) / 2; dot(weights, s.below[middle]) < rank {
			low = middle
		} else {
			high = middle
		}
	}
	seen := dot(weights, s.below[low])
	for _, e := range s.entries[s.lines[low]:] {
		if seen += int64(weights[e.second]) * int64(e.count); seen >= rank {
			return milliseconds(e.value)
		}
	}
	return milliseconds(s.entries[len(s.entries)-1].value)
}

func dot(a, b []int32) int64 {
	var sum int64
	b = b[:len(a)]
	for i, x := range a {
		sum += int64(x) * int64(b[i])
	}
	return sum
}

// Influence of a second on a quantile: how many more of its operations lie above it than their share.
func (s *percentileSample) Influence() []float64 { return s.pull }

// Limits come from the binomial ranks around the quantile, which need no model of the times (Conover, Practical
// Nonparametric Statistics, 3.2). With too few operations the upper one is infinite: among 300 operations nothing bounds p99.9.
func (s *percentileSample) Limits(alpha, more float64) (low, high float64) {
	n := float64(s.merged.Count()) * more
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	z := distuv.UnitNormal.Quantile(1 - alpha/2)
	half := z * math.Sqrt(n*s.q*(1-s.q))
	lower, upper := math.Floor(s.q*n-half), math.Ceil(s.q*n+half)+1
	low, high = 0, math.Inf(1)
	if lower >= 1 {
		low = milliseconds(s.merged.Quantile(lower / n))
	}
	if upper <= n {
		high = milliseconds(s.merged.Quantile(upper / n))
	}
	return low, high
}
