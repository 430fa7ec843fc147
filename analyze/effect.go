package analyze

import "math"

// effect is an estimate with all that an interval around it needs.
type effect struct {
	value     float64 // from all rounds together
	known     bool    // nothing in it is estimated
	log       bool    // judged on the log scale
	spread    spread
	limits    []limit
	effective float64 // seconds' worth of independent information that the poorest quantity holds
	seconds   float64 // measured in a round so far, of the shortest quantity
}

// limit is what the operations of one quantity alone leave open.
type limit struct {
	bounds  func(alpha, more float64) (low, high float64) // of the quantity
	through func(quantity float64) float64                // the estimate, the other quantities staying as they are
}

// measure computes an estimate and its uncertainty. Rounds in which a quantity is missing are left out.
func measure(quantities []Quantity, estimate func([]float64) float64, ratio bool, o Options) effect {
	m := newMeasurement(quantities, estimate)
	whole := m.whole()
	e := effect{value: m.value(whole), known: m.isKnown()}
	if e.known || m.rounds == 0 {
		return e
	}
	for i, p := range m.parts {
		e.limits = append(e.limits, m.limit(i, p, whole))
	}
	e.effective, e.seconds = m.size()

	replicates, without := m.replicates(o), m.withoutEach(m.all()...)
	e.log = e.value > 0 && (ratio || len(quantities) == 1) && positive(replicates) && positive(without)
	scale := func(x float64) float64 { return x }
	if e.log {
		scale = math.Log
	}
	e.spread = spread{
		within:  deviation(replicates, scale) / math.Sqrt(m.shortfall()),
		freedom: m.freedom(),
		rounds:  m.rounds,
	}
	if m.rounds > 1 {
		e.spread.between = m.between(without, scale, ratio)
	}
	return e
}

func (m *measurement) limit(i int, p part, whole [][]int32) limit {
	values := make([]float64, len(m.parts))
	for j, other := range m.parts {
		values[j] = other.sample.Value(whole[j])
	}
	return limit{
		bounds: p.sample.Limits,
		through: func(x float64) float64 {
			values[i] = x
			return m.estimate(values)
		},
	}
}

// size is that of the poorest part: in effective seconds of all rounds, and in seconds of a round.
func (m *measurement) size() (effective, round float64) {
	effective, round = math.Inf(1), math.Inf(1)
	for _, p := range m.parts {
		if p.influence != nil {
			n := float64(len(p.influence))
			effective = min(effective, n/p.tau)
			round = min(round, n/float64(m.rounds))
		}
	}
	return effective, round
}

func positive(values []float64) bool {
	for _, x := range values {
		if x <= 0 {
			return false
		}
	}
	return true
}

// interval at level alpha, if there were more times as much data. Where operations are few, what they alone leave open is
// the wider one and holds: the excursions of the quantities are combined as their variances would be (Zou and Donner 2008).
func (e effect) interval(alpha, more float64) (low, high float64) {
	if e.known {
		return e.value, e.value
	}
	if math.IsNaN(e.value) || e.spread.rounds == 0 {
		return math.Inf(-1), math.Inf(1)
	}
	half := e.spread.half(alpha, more)
	if e.log {
		low, high = e.value*math.Exp(-half), e.value*math.Exp(half)
	} else {
		low, high = e.value-half, e.value+half
	}
	var under, over float64
	for _, l := range e.limits {
		a, b := l.bounds(alpha, more)
		a, b = l.through(a), l.through(b)
		under += math.Pow(max(e.value-min(a, b), 0), 2)
		over += math.Pow(max(max(a, b)-e.value, 0), 2)
	}
	return min(low, e.value-math.Sqrt(under)), max(high, e.value+math.Sqrt(over))
}
