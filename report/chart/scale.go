package chart

import (
	"math"
	"slices"

	"plimsoll/report/quantity"
)

// scale places values of an axis between 0 and 1.
type scale struct {
	axis     Axis
	from, to float64
	ticks    []float64
}

// xScale is the scale of the x axis with about n ticks.
func (c Chart) xScale(n int) scale {
	s := scale{axis: c.X, from: math.Inf(1), to: math.Inf(-1)}
	s.cover(c.Xs...)
	s.cover(c.X.Ticks...)
	for _, span := range c.Spans {
		s.cover(span.From, span.To)
	}
	s.settle()
	switch {
	case c.X.Ticks != nil:
		s.ticks = c.X.Ticks
		s.pad()
	case c.X.Unit == quantity.Elapsed:
		s.ticks = multiples(s.from, s.to, elapsedStep(s.to-s.from, n))
	default:
		s.ticks = multiples(s.from, s.to, step(s.to-s.from, n))
	}
	return s
}

// yScale is the scale of the y axis with about n ticks. It begins on a tick and leaves a little room at the top.
func (c Chart) yScale(n int) scale {
	s := scale{axis: c.Y, from: math.Inf(1), to: math.Inf(-1)}
	for _, l := range c.Lines {
		s.cover(l.Values...)
		s.cover(l.Low...)
		s.cover(l.High...)
	}
	if c.Y.Zero {
		s.cover(0)
	}
	s.settle()
	if c.Y.Log {
		s.from, s.to = roundDown(s.from), roundUp(s.to)
		s.ticks = logTicks(s.from, s.to, n)
		return s
	}
	unit := 1.0
	if c.Y.Unit.Binary() {
		unit = math.Pow(1024, max(math.Floor(math.Log(max(s.to, 1))/math.Log(1024)), 0))
	}
	whole := s
	for more := range 4 { // one tick alone tells nothing of the scale
		by := step((whole.to-whole.from)/unit, n+more) * unit
		s.from, s.to = math.Floor(whole.from/by+1e-9)*by, min(math.Ceil(whole.to/by-1e-9)*by, whole.to+(whole.to-whole.from)*0.08)
		if s.ticks = multiples(s.from, s.to, by); len(s.ticks) > 1 {
			break
		}
	}
	return s
}

// at is where v stands, 0 to 1, or NaN for a gap.
func (s scale) at(v float64) float64 {
	if s.axis.Log {
		if v <= 0 {
			return math.NaN()
		}
		return math.Log(v/s.from) / math.Log(s.to/s.from)
	}
	return (v - s.from) / (s.to - s.from)
}

// label writes tick i.
func (s scale) label(i int) string {
	if s.axis.Labels != nil {
		return s.axis.Labels[i]
	}
	return s.axis.Unit.Tick(s.ticks[i])
}

func (s *scale) cover(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || (s.axis.Log && v <= 0) {
			continue
		}
		s.from, s.to = min(s.from, v), max(s.to, v)
	}
}

// settle gives the scale the range that the axis asks for, and one of some width.
func (s *scale) settle() {
	if s.axis.From != 0 || s.axis.To != 0 {
		s.cover(s.axis.From, s.axis.To)
	}
	switch {
	case s.from > s.to && s.axis.Log:
		s.from, s.to = 1, 10
	case s.from > s.to:
		s.from, s.to = 0, 1
	case s.from == s.to && s.axis.Log:
		s.from, s.to = s.from/2, s.to*2
	case s.from == s.to && s.axis.Zero:
		s.to = s.from + 1
	case s.from == s.to:
		by := max(math.Abs(s.from)/10, 1e-9)
		s.from, s.to = s.from-by, s.to+by
	}
}

// pad leaves room beside the first and last tick.
func (s *scale) pad() {
	if s.axis.Log {
		by := math.Pow(s.to/s.from, 0.04)
		s.from, s.to = s.from/by, s.to*by
		return
	}
	by := (s.to - s.from) * 0.04
	s.from, s.to = s.from-by, s.to+by
}

// step is the 1, 2 or 5 times a power of ten that cuts a range into at most n parts or few more.
func step(width float64, n int) float64 {
	raw := width / float64(max(n, 1))
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*0.999 {
			return m * power
		}
	}
	return 10 * power
}

// elapsedStep is the step of a clock, in seconds.
func elapsedStep(width float64, n int) float64 {
	for _, by := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600} {
		if width/by <= float64(n) {
			return by
		}
	}
	return math.Ceil(width/float64(n)/86400) * 86400
}

func multiples(from, to, by float64) []float64 {
	var ticks []float64
	for i := math.Ceil(from/by - 1e-9); i*by <= to+by*1e-9; i++ {
		ticks = append(ticks, i*by)
	}
	return ticks
}

// logTicks are the 1s, 2s and 5s of each decade, or as few of them as n asks for.
func logTicks(from, to float64, n int) []float64 {
	for _, choice := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var ticks []float64
		for d := math.Floor(math.Log10(from) + 1e-9); d <= math.Log10(to)+1e-9; d++ {
			for _, m := range choice {
				if t := m * math.Pow(10, d); t >= from*0.999 && t <= to*1.001 {
					ticks = append(ticks, t)
				}
			}
		}
		if len(ticks) <= n+1 || len(choice) == 1 {
			return ticks
		}
	}
	return nil
}

// roundDown is the largest 1, 2 or 5 times a power of ten that is not above v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, m := range slices.Backward([]float64{1, 2, 5}) {
		if m*power <= v*1.0001 {
			return m * power
		}
	}
	return power
}

// roundUp is the smallest 1, 2 or 5 times a power of ten that is not below v.
func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= v*0.9999 {
			return m * power
		}
	}
	return 10 * power
}
