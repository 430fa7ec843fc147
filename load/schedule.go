package load

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Stage is a period in which the rate goes evenly from one value to another.
type Stage struct {
	From, To float64       // operations per second
	For      time.Duration // 0: without end; the last stage only
}

// Constant is a rate that never changes.
func Constant(rate float64) Stage { return Stage{From: rate, To: rate} }

// Uniform is a schedule of evenly spaced operations: the i-th, from 0, is due when i have been asked for by the rate.
func Uniform(stages ...Stage) (Schedule, error) {
	c, err := newCurve(stages)
	if err != nil {
		return nil, err
	}
	return uniform{c}, nil
}

// Poisson is a schedule of independent operations, as many users make them: a Poisson process with the stages' rate. The
// seed decides the sequence.
func Poisson(seed uint64, stages ...Stage) (Schedule, error) {
	c, err := newCurve(stages)
	if err != nil {
		return nil, err
	}
	return poisson{c, seed}, nil
}

type uniform struct{ curve }

func (s uniform) Arrivals() func() (time.Duration, bool) {
	when := s.inverse()
	i := 0.0
	return func() (time.Duration, bool) {
		due, ok := when(i)
		i++
		return due, ok
	}
}

// poisson rescales time: with unit exponential gaps on the axis of the cumulative rate, the moments on the axis of time are
// a Poisson process of that rate (Çınlar 1975, Introduction to Stochastic Processes, 4.7).
type poisson struct {
	curve
	seed uint64
}

func (s poisson) Arrivals() func() (time.Duration, bool) {
	when := s.inverse()
	random := rand.New(rand.NewPCG(s.seed, 0))
	sum := 0.0
	return func() (time.Duration, bool) {
		sum += random.ExpFloat64()
		return when(sum)
	}
}

// curve is a rate over time, in straight pieces, with what it adds up to.
type curve struct{ pieces []piece }

type piece struct {
	Stage
	start time.Duration
	sum   float64 // operations asked for before it
}

func newCurve(stages []Stage) (curve, error) {
	if len(stages) == 0 {
		return curve{}, errors.New("a schedule without stages")
	}
	var c curve
	next := piece{}
	for i, s := range stages {
		for _, rate := range []float64{s.From, s.To} {
			if !(rate >= 0 && rate <= 1e9) {
				return curve{}, fmt.Errorf("stage %d: a rate of %v operations per second", i+1, rate)
			}
		}
		switch {
		case s.For < 0:
			return curve{}, fmt.Errorf("stage %d: lasts %v", i+1, s.For)
		case s.For == 0 && i < len(stages)-1:
			return curve{}, fmt.Errorf("stage %d: only the last stage can be without end", i+1)
		case s.For == 0 && s.From != s.To:
			return curve{}, fmt.Errorf("stage %d: a ramp without end", i+1)
		}
		next.Stage = s
		c.pieces = append(c.pieces, next)
		next.start += s.For
		next.sum += s.area()
	}
	return c, nil
}

// area is how many operations the stage asks for.
func (s Stage) area() float64 {
	if s.For == 0 {
		if s.From > 0 {
			return math.Inf(1)
		}
		return 0
	}
	return (s.From + s.To) / 2 * s.For.Seconds()
}

// after returns how long the stage takes to ask for n operations, at most its area: the root of
// From·t + (To−From)/(2·For)·t² = n in the form that subtracts nothing.
func (s Stage) after(n float64) time.Duration {
	if n == 0 {
		return 0
	}
	seconds := n / s.From
	if s.From != s.To {
		slope := (s.To - s.From) / s.For.Seconds()
		seconds = 2 * n / (s.From + math.Sqrt(max(s.From*s.From+2*slope*n, 0)))
	}
	const years = 1e9 // keeps tiny rates inside a Duration
	return time.Duration(math.Round(min(seconds, years) * float64(time.Second)))
}

// inverse returns the function from a number of operations to the moment at which so many have been asked for. The
// numbers must not fall from call to call.
func (c curve) inverse() func(n float64) (time.Duration, bool) {
	i := 0
	return func(n float64) (time.Duration, bool) {
		for i < len(c.pieces) && n >= c.pieces[i].sum+c.pieces[i].area() {
			i++
		}
		if i == len(c.pieces) {
			return 0, false
		}
		p := c.pieces[i]
		return p.start + p.after(n-p.sum), true
	}
}

// Rate returns the rate at a moment; 0 past the end.
func (c curve) Rate(at time.Duration) float64 {
	for _, p := range c.pieces {
		within := at - p.start
		switch {
		case within < 0:
			return 0
		case p.For == 0:
			return p.From
		case within < p.For:
			return p.From + (p.To-p.From)*float64(within)/float64(p.For)
		}
	}
	return 0
}
