package load_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/load"
)

// all returns when a schedule's operations are due up to a moment.
func all(s load.Schedule, until time.Duration) (due []time.Duration) {
	next := s.Arrivals()
	for {
		d, ok := next()
		if !ok || d >= until {
			return due
		}
		due = append(due, d)
	}
}

var curves = map[string][]load.Stage{
	"constant":     {load.Constant(137)},
	"steps":        {{From: 100, To: 100, For: 3 * time.Second}, {From: 0, To: 0, For: 2 * time.Second}, {From: 350, To: 350, For: 4 * time.Second}},
	"from nothing": {{From: 0, To: 500, For: 6 * time.Second}},
	"to nothing":   {{From: 500, To: 0, For: 6 * time.Second}},
	"waves":        {{From: 50, To: 400, For: 2 * time.Second}, {From: 400, To: 50, For: 3 * time.Second}, {From: 50, To: 400, For: time.Second}, load.Constant(400)},
	"barely":       {{From: 200, To: 200.001, For: 10 * time.Second}},
	"fractions":    {{From: 0.4, To: 0.9, For: 7 * time.Second}, load.Constant(0.3)},
}

// The i-th operation of a uniform schedule is due when the integral of its rate, here taken in small steps, reaches i.
func TestUniformIsTheIntegralOfItsRate(t *testing.T) {
	for name, stages := range curves {
		t.Run(name, func(t *testing.T) {
			s := schedule(t, load.Uniform, stages...)
			due := all(s, 9*time.Second)
			const step = 20 * time.Microsecond
			var sum float64
			i := 0
			for at := time.Duration(0); at < 9*time.Second; at += step {
				for ; i < len(due) && due[i] < at+step; i++ {
					want := float64(i)
					got := sum + s.Rate(due[i]-(due[i]-at)/2)*(due[i]-at).Seconds()
					if math.Abs(got-want) > 1e-3 {
						t.Fatalf("operation %d is due at %v, where the rate has asked for %.6f", i, due[i], got)
					}
				}
				sum += s.Rate(at+step/2) * step.Seconds()
			}
			if want := int(math.Ceil(sum - 1e-3)); len(due) != want {
				t.Errorf("%d operations, the rate asks for %.3f", len(due), sum)
			}
		})
	}
}

// At rescaled time the gaps of a Poisson schedule are independent unit exponentials; counts in equal periods of it are
// Poisson distributed. Limits are those of a false alarm in a million, for seeds that are drawn.
func TestPoissonStatistics(t *testing.T) {
	const level = 1e-6
	for name, stages := range curves {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			stages := slices.Clone(stages)
			for i := range stages {
				stages[i].From *= 100
				stages[i].To *= 100
			}
			s, err := load.Poisson(seed, stages...)
			if err != nil {
				t.Fatal(err)
			}
			due := all(s, 9*time.Second)
			rescaled := integral(s, due)

			// Kolmogorov–Smirnov distance of the gaps from the exponential distribution.
			gaps := make([]float64, len(due))
			before := 0.0
			for i, at := range rescaled {
				gaps[i], before = at-before, at
			}
			n := float64(len(gaps))
			if d, limit := distance(gaps), math.Sqrt(-math.Log(level/2)/2/n); d > limit+1e-4 {
				t.Errorf("gaps are %.4f from exponential, limit %.4f", d, limit)
			}
			// The number up to the end is Poisson: its mean is the integral.
			mean := integral(s, []time.Duration{9 * time.Second})[0]
			if z := (n - mean) / math.Sqrt(mean); math.Abs(z) > -distuv.UnitNormal.Quantile(level/2) {
				t.Errorf("%v operations, %.0f expected: %.1f standard deviations", n, mean, z)
			}
			// Neighbouring gaps do not know of each other.
			var product float64
			for i := range len(gaps) - 1 {
				product += (gaps[i] - 1) * (gaps[i+1] - 1)
			}
			if z := product / math.Sqrt(n); math.Abs(z) > -distuv.UnitNormal.Quantile(level/2)*1.5 {
				t.Errorf("neighbouring gaps are correlated: %.1f standard deviations", z)
			}
		})
	}
}

// integral returns the integral of the rate up to each of the rising moments.
func integral(s load.Schedule, at []time.Duration) []float64 {
	const step = 50 * time.Microsecond
	out := make([]float64, len(at))
	var from time.Duration
	var sum float64
	for i, to := range at {
		for ; from+step < to; from += step {
			sum += s.Rate(from+step/2) * step.Seconds()
		}
		out[i] = sum + s.Rate(from+(to-from)/2)*(to-from).Seconds()
	}
	return out
}

// distance is the largest between the values' distribution and the unit exponential.
func distance(values []float64) (d float64) {
	values = slices.Sorted(slices.Values(values))
	n := float64(len(values))
	for i, v := range values {
		p := 1 - math.Exp(-v)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return d
}

func TestArrivalsRepeat(t *testing.T) {
	s, err := load.Poisson(7, load.Constant(1000))
	if err != nil {
		t.Fatal(err)
	}
	other, err := load.Poisson(8, load.Constant(1000))
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := all(s, time.Second), all(s, time.Second), all(other, time.Second)
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("a schedule begun twice is not the same")
	}
	if fmt.Sprint(a) == fmt.Sprint(c) {
		t.Error("another seed makes the same schedule")
	}
}

// Uniform arrivals of a constant rate do not drift: the millionth is where it belongs.
func TestUniformDoesNotDrift(t *testing.T) {
	next := schedule(t, load.Uniform, load.Constant(3)).Arrivals()
	for i := range 1_000_000 {
		due, ok := next()
		if want := time.Duration(math.Round(float64(i) / 3 * 1e9)); !ok || due != want {
			t.Fatalf("operation %d is due at %v, want %v", i, due, want)
		}
	}
}

func TestSchedulesRefuse(t *testing.T) {
	for name, stages := range map[string][]load.Stage{
		"no stages":           nil,
		"a negative rate":     {load.Constant(-1)},
		"no number":           {load.Constant(math.NaN())},
		"infinity":            {load.Constant(math.Inf(1))},
		"a negative length":   {{From: 1, To: 1, For: -1}},
		"an end in between":   {load.Constant(1), load.Constant(2)},
		"a ramp without end":  {{From: 1, To: 2}},
		"a rate out of reach": {load.Constant(2e9)},
	} {
		if s, err := load.Uniform(stages...); err == nil || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
		if s, err := load.Poisson(1, stages...); err == nil || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
