package analyze

import (
	"math"
	"time"
)

// Design is what is going to be measured: two quantities that are compared, each so long in each of so many rounds.
type Design struct {
	Measure time.Duration // of a quantity in a round
	Rounds  int
}

// Foresee estimates, from a period of steady seconds, half the width of the interval that a trial of this design will have around the
// ratio of two quantities, as a share: a difference that is smaller cannot be told from none. NaN where the period has no value.
//
// It is the standard error of the period, by the same block bootstrap that judges, made smaller by the root of how many times longer
// will be measured, times √2 for two quantities, with Student's quantile for the trial's own degrees of freedom. Rounds are taken to
// differ by what their seconds explain: where they differ by more, which one period cannot show, the interval is wider.
func Foresee(steady []Second, s Statistic, d Design, o Options) (share float64) {
	o = o.withDefaults()
	e := measure([]Quantity{{Rounds: [][]Second{steady}, Statistic: s}}, func(v []float64) float64 { return v[0] }, true, o)
	if math.IsNaN(e.value) || !e.log || d.Rounds < 1 || d.Measure <= 0 {
		return math.NaN()
	}
	var length time.Duration
	for _, second := range steady {
		length += second.Length
	}
	all := d.Measure.Seconds() * float64(d.Rounds)
	err := e.spread.within * math.Sqrt(length.Seconds()/all) * math.Sqrt2
	perRound := d.Measure.Seconds()
	blocks := perRound / math.Max(1, math.Min(math.Sqrt(perRound), perRound/3))
	future := spread{within: err, freedom: math.Max(1, float64(d.Rounds)*1.5*(blocks-1)), rounds: d.Rounds}
	if d.Rounds > 1 {
		future.between = []between{{err: err, freedom: float64(d.Rounds - 1)}}
	}
	return math.Expm1(future.half(1-o.Confidence, 1))
}
