package main

import (
	"fmt"
	"iter"
	"math"
	"time"

	"plimsoll/analyze"
)

// warmUpLimit is when a simulated warm-up is given up, in seconds.
const warmUpLimit = 600

// steadyState is the section on the end of warm-ups.
func steadyState(s study) (string, error) {
	return fmt.Sprintf(`The detector gets one second at a time, with 1,000 operations whose times are drawn one by one: a second's p99 varies by about
15 %% for that alone. Parameters are the defaults for the time that is to be measured.

**Flat from the beginning**: how long it takes to be sure. Throughput varies from second to second by the share given.

%s
**Throughput that goes on rising**, by the share of its first value a minute, for three minutes: how often it is called steady at all.
What drifts faster than the limit must not be; what drifts slower may be, when noise hides it.

%s
**A step**: after a flat minute throughput falls at once; how often the service is called steady in one of the seconds 2 to 10
after it.

%s
**A cache that fills**: throughput begins at half of what it will be, and the gap closes exponentially. How long until it is called
steady, and how far throughput is from its final value then.

%s`, flatServices(s), risingServices(s), steppingServices(s), fillingCaches(s)), nil
}

// The noise of the services that are watched.
var watched = []service{{noise: 0.02}, {noise: 0.10}, {noise: 0.10, correlation: 0.6}, {noise: 0.10, correlation: 0.8}}

var horizons = []time.Duration{30 * time.Second, time.Minute, 10 * time.Minute}

// steadySeconds feeds the detector with seconds whose throughput follows a shape, and yields those at whose end it calls the
// service steady.
func steadySeconds(src *source, w service, horizon time.Duration, seconds int, shape func(second int) float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		detector := analyze.NewSteady(analyze.SteadyOptions{Horizon: horizon})
		for i, level := range src.levels(w, seconds) {
			level /= math.Pow(shape(i), 2) // throughput goes with the root of the level
			detector.Add(src.seconds([]float64{level}, drawn)[0])
			if detector.Steady() && !yield(i+1) {
				return
			}
		}
	}
}

// warmUp is how many seconds pass until the service is called steady.
func warmUp(src *source, w service, horizon time.Duration, shape func(second int) float64) float64 {
	for n := range steadySeconds(src, w, horizon, warmUpLimit, shape) {
		return float64(n)
	}
	return warmUpLimit
}

func always(int) float64 { return 1 }

func flatServices(s study) *table {
	t := newTable("to be measured", "throughput varies by", "correlation", "seconds until steady: median", "95 %")
	for _, horizon := range horizons {
		for _, w := range watched {
			took := repeat(s, fmt.Sprint("flat", horizon, w), s.trials(40), func(src *source) float64 {
				return warmUp(src, w, horizon, always)
			})
			t.row(horizon.String(), percent(w.noise/2), fmt.Sprint(w.correlation), fmt.Sprint(median(took)), fmt.Sprint(percentile(took, 0.95)))
		}
	}
	return t
}

func risingServices(s study) *table {
	t := newTable("to be measured", "limit a minute", "throughput varies by", "correlation", "rises by 5 %", "20 %", "60 %")
	for _, horizon := range horizons[:2] {
		for _, w := range watched {
			row := []string{horizon.String(), percent(0.02 / horizon.Minutes() * math.Pow(3, 1.5)), percent(w.noise / 2), fmt.Sprint(w.correlation)}
			for _, rise := range []float64{0.05, 0.20, 0.60} {
				called := repeat(s, fmt.Sprint("rise", horizon, w, rise), s.trials(60), func(src *source) bool {
					for range steadySeconds(src, w, horizon, 180, func(i int) float64 { return 1 + rise*float64(i)/60 }) {
						return true
					}
					return false
				})
				row = append(row, count(called, func(b bool) bool { return b }).String())
			}
			t.row(row...)
		}
	}
	return t
}

func steppingServices(s study) *table {
	t := newTable("to be measured", "throughput varies by", "correlation", "falls by 10 %", "20 %", "30 %")
	for _, horizon := range horizons[:2] {
		for _, w := range watched {
			row := []string{horizon.String(), percent(w.noise / 2), fmt.Sprint(w.correlation)}
			for _, fall := range []float64{0.1, 0.2, 0.3} {
				called := repeat(s, fmt.Sprint("step", horizon, w, fall), s.trials(100), func(src *source) bool {
					shape := func(i int) float64 {
						if i >= 60 {
							return 1 - fall
						}
						return 1
					}
					for n := range steadySeconds(src, w, horizon, 70, shape) {
						if n > 61 {
							return true
						}
					}
					return false
				})
				row = append(row, count(called, func(b bool) bool { return b }).String())
			}
			t.row(row...)
		}
	}
	return t
}

func fillingCaches(s study) *table {
	t := newTable("to be measured", "throughput varies by", "time constant", "seconds until steady: median", "95 %", "missing then: median", "95 %")
	for _, horizon := range horizons[:2] {
		for _, w := range watched[:2] {
			for _, constant := range []float64{5, 20, 60} {
				shape := func(i int) float64 { return 1 - 0.5*math.Exp(-float64(i)/constant) }
				took := repeat(s, fmt.Sprint("fill", horizon, w, constant), s.trials(40), func(src *source) float64 {
					return warmUp(src, w, horizon, shape)
				})
				var missing []float64
				for _, n := range took {
					missing = append(missing, 1-shape(int(n)))
				}
				t.row(horizon.String(), percent(w.noise/2), fmt.Sprintf("%.0f s", constant),
					fmt.Sprint(median(took)), fmt.Sprint(percentile(took, 0.95)), percent(median(missing)), percent(percentile(missing, 0.95)))
			}
		}
	}
	return t
}
