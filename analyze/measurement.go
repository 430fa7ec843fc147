package analyze

import (
	"math"
	"math/rand/v2"
	"time"
)

// measurement is an estimate from quantities, bound to their seconds so that it can be computed for any weights of them.
type measurement struct {
	estimate func(values []float64) float64
	parts    []part
	rounds   int
	tau      float64 // correlation time of the most correlated part, seconds
	blocks   []int   // lengths of the bootstrap's blocks, by round

	values []float64 // scratch of value
}

// part is one quantity over all its rounds, which stand one after the other.
type part struct {
	sample    Sample
	lengths   []int     // seconds by round
	influence []float64 // nil when nothing in the quantity is estimated
	tau       float64
	start     time.Time // of its first second
}

func newMeasurement(quantities []Quantity, estimate func([]float64) float64) *measurement {
	rounds := paired(quantities)
	m := &measurement{estimate: estimate, rounds: len(rounds), tau: 1, values: make([]float64, len(quantities))}
	for _, q := range quantities {
		p := newPart(q, rounds)
		m.parts = append(m.parts, p)
		m.tau = max(m.tau, p.tau)
	}
	for r := range m.rounds {
		m.blocks = append(m.blocks, blockLength(m.tau, m.shortest(r), m.rounds))
	}
	return m
}

// paired returns the rounds in which every quantity was measured.
func paired(quantities []Quantity) []int {
	var rounds []int
	for r := 0; ; r++ {
		estimated, measured := false, true
		for _, q := range quantities {
			if q.Exact != nil {
				continue
			}
			if r >= len(q.Rounds) {
				return rounds
			}
			estimated, measured = true, measured && len(q.Rounds[r]) > 0
		}
		if !estimated {
			return nil
		}
		if measured {
			rounds = append(rounds, r)
		}
	}
}

func newPart(q Quantity, rounds []int) part {
	p := part{lengths: make([]int, len(rounds))}
	if q.Exact != nil {
		p.sample = known(*q.Exact)
		return p
	}
	var seconds []Second
	for i, r := range rounds {
		seconds = append(seconds, q.Rounds[r]...)
		p.lengths[i] = len(q.Rounds[r])
	}
	p.sample = q.Statistic.Sample(seconds)
	p.influence = p.sample.Influence()
	if len(seconds) > 0 {
		p.start = seconds[0].Start
	}
	if p.influence != nil {
		p.tau = correlationTime(byRound(p.influence, p.lengths))
	}
	return p
}

// byRound cuts what stands one round after the other into its rounds.
func byRound[T any](all []T, lengths []int) [][]T {
	rounds := make([][]T, len(lengths))
	for r, n := range lengths {
		rounds[r], all = all[:n], all[n:]
	}
	return rounds
}

// shortest is how many seconds the part has that has the fewest in a round.
func (m *measurement) shortest(round int) int {
	n := math.MaxInt
	for _, p := range m.parts {
		if p.influence != nil {
			n = min(n, p.lengths[round])
		}
	}
	return n
}

// isKnown reports whether nothing in the estimate is uncertain.
func (m *measurement) isKnown() bool {
	for _, p := range m.parts {
		if p.influence != nil {
			return false
		}
	}
	return true
}

// value is the estimate with weighted seconds.
func (m *measurement) value(weights [][]int32) float64 {
	for i, p := range m.parts {
		m.values[i] = p.sample.Value(weights[i])
	}
	return m.estimate(m.values)
}

// whole counts every second once.
func (m *measurement) whole() [][]int32 {
	weights := make([][]int32, len(m.parts))
	for i, p := range m.parts {
		n := 0
		for _, length := range p.lengths {
			n += length
		}
		weights[i] = once(n)
	}
	return weights
}

// replicates returns the estimates of seconds drawn anew.
func (m *measurement) replicates(o Options) []float64 {
	draw := resampling{rng: rand.New(rand.NewPCG(o.Seed, 0)), blocks: m.blocks}
	for _, p := range m.parts {
		draw.lengths = append(draw.lengths, p.lengths)
	}
	weights := m.whole()
	out := make([]float64, o.Replicates)
	for i := range out {
		draw.draw(weights)
		out[i] = m.value(weights)
	}
	return out
}

// shortfall is blockShortfall over the rounds.
func (m *measurement) shortfall() float64 {
	var sum, seconds float64
	for r, block := range m.blocks {
		n := m.shortest(r)
		sum += float64(n) * blockShortfall(m.tau, block, n)
		seconds += float64(n)
	}
	return sum / seconds
}

// freedom is the degrees of freedom of the variance that the bootstrap finds: 1.5 for each block after the first, as
// for overlapping batch means (Meketon and Schmeiser 1984).
func (m *measurement) freedom() float64 {
	var free float64
	for r, block := range m.blocks {
		free += 1.5 * (float64(m.shortest(r))/float64(block) - 1)
	}
	return max(free, 1)
}
