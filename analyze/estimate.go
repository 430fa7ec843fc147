package analyze

// Estimate is a number with its interval. Where so little was measured that a bound or the value itself is not known, it is
// infinite or NaN here and null in JSON.
type Estimate struct {
	Value      float64 `json:"value"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // of the interval, 0.99; 1 when the value is known and not estimated
	Effective  float64 `json:"effective"`  // effective sample size, seconds; 0 when the value is known
}

// EstimateOf is a quantity over all its rounds. Of a single round the interval speaks of that round's time only: how much
// the next round would differ cannot be seen in it.
func EstimateOf(q Quantity, o Options) Estimate {
	return estimate([]Quantity{q}, func(v []float64) float64 { return v[0] }, false, o)
}

// RatioOf is a quantity over another, on paired rounds.
func RatioOf(over, under Quantity, o Options) Estimate {
	return estimate([]Quantity{over, under}, func(v []float64) float64 { return v[0] / v[1] }, true, o)
}

func estimate(quantities []Quantity, f func([]float64) float64, ratio bool, o Options) Estimate {
	o = o.withDefaults()
	e := measure(quantities, f, ratio, o)
	if e.known {
		return Estimate{Value: e.value, Low: e.value, High: e.value, Confidence: 1}
	}
	low, high := e.interval(1-o.Confidence, 1)
	return Estimate{Value: e.value, Low: low, High: high, Confidence: o.Confidence, Effective: e.effective}
}
