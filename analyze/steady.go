package analyze

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// SteadyOptions say how flat is flat. The zero value is the rule for a long measurement: 2 % in ten minutes, seen over at
// least a minute.
type SteadyOptions struct {
	// Horizon is how long will be measured; what matters is the drift over that time. Default: 10 min.
	Horizon time.Duration
	// Drift is how much throughput and p99 response time may change over the horizon, as a share. Default: 0.02.
	Drift float64
	// Window is the shortest time that is looked at. Default: a third of the horizon, at least 10 s and at most 1 min.
	Window time.Duration
	// Confidence that a drift is seen before it is spoken of, and that there is none before the service is called steady.
	// Default: 0.99.
	Confidence float64
}

func (o SteadyOptions) withDefaults() SteadyOptions {
	if o.Horizon == 0 {
		o.Horizon = 10 * time.Minute
	}
	if o.Drift == 0 {
		o.Drift = 0.02
	}
	if o.Window == 0 {
		o.Window = min(max(o.Horizon/3, 10*time.Second), time.Minute)
	}
	if o.Confidence == 0 {
		o.Confidence = 0.99
	}
	return o
}

// Steady is fed the seconds of a warm-up and tells when it is over: when throughput and the log of the p99 response time
// are flat.
//
// Flat means, over some stretch of the latest seconds that is at least Window long:
//
//   - the interval of the slope lies within ±limit, where limit = Drift/Horizon · (Horizon/Window)^1.5;
//   - no slope that is larger than Drift/Horizon is evident, over that stretch or a shorter one;
//   - its latest seconds do not lie apart from the others.
//
// The first rule asks that enough is known. For a window as long as the horizon it is the whole rule: an interval of the
// slope inside ±2 % in ten minutes. A shorter window can know its slope only so much worse, since the error of a slope
// falls with the power 1.5 of the time it is seen over, and is allowed just that. A noisy service is watched for longer
// until its slope is known as well. The second rule catches what is small but plain to see, the third what has just happened.
type Steady struct {
	options    SteadyOptions
	throughput []float64
	p99        []float64 // logs; NaN where nothing completed
	why        string
}

// NewSteady returns a detector that has seen nothing.
func NewSteady(o SteadyOptions) *Steady {
	s := &Steady{options: o.withDefaults()}
	s.judge()
	return s
}

// Add takes the next second.
func (s *Steady) Add(second Second) {
	p99 := math.NaN()
	if second.Response.Count() > 0 {
		p99 = math.Log(milliseconds(second.Response.Quantile(0.99)))
	}
	s.throughput = append(s.throughput, throughput(second))
	s.p99 = append(s.p99, p99)
	s.judge()
}

// Steady reports whether the warm-up is over.
func (s *Steady) Steady() bool { return s.why == "" }

// Why says what is not flat yet: "throughput still rises 3 %/min". It is empty when the service is steady.
func (s *Steady) Why() string { return s.why }

// judge looks back over longer and longer stretches until one is clear.
func (s *Steady) judge() {
	shortest, seen := int(s.options.Window/time.Second), len(s.throughput)
	if seen < shortest {
		s.why = fmt.Sprintf("%d of at least %d s seen", seen, shortest)
		return
	}
	for n := shortest; ; n = min(n*5/4+1, seen) {
		f := s.over(n)
		s.why = f.why
		if f.clear || n == seen {
			return
		}
	}
}

// flatness is what a stretch of seconds shows: why it is not flat, if it is not, and whether a longer one is not needed to
// know.
type flatness struct {
	why   string
	clear bool
}

// over judges the last n seconds by both series.
func (s *Steady) over(n int) flatness {
	level := s.throughput[len(s.throughput)-n:]
	normal := mean(level)
	if normal == 0 {
		return flatness{why: "nothing completes", clear: true}
	}
	shares := make([]float64, n)
	for i, x := range level {
		shares[i] = x / normal
	}
	throughput, p99 := s.of("throughput", shares), s.of("p99", s.p99[len(s.p99)-n:])
	if throughput.why != "" && (throughput.clear || !p99.clear || p99.why == "") {
		return throughput
	}
	return p99
}

// of judges a series on a relative scale.
func (s *Steady) of(name string, values []float64) flatness {
	if slices.ContainsFunc(values, math.IsNaN) {
		return flatness{why: "there are seconds in which nothing completes", clear: true}
	}
	t := newTrend(values)
	drift := math.Abs(t.slope)
	allowed := s.options.Drift / s.options.Horizon.Seconds()
	limit := allowed * math.Pow(s.options.Horizon.Seconds()/s.options.Window.Seconds(), 1.5)
	half := t.half(1 - s.options.Confidence)
	if drift > half && drift > allowed {
		return flatness{why: fmt.Sprintf("%s still %s %s/min", name, direction(t.slope, "rises", "falls"), percent(drift*60)), clear: true}
	}
	if j := latestJump(values); j.evident() {
		return flatness{why: fmt.Sprintf("%s %s %s in the last %d s", name, direction(j.size, "rose", "fell"), percent(math.Abs(j.size)), j.seconds), clear: true}
	}
	if drift+half > limit {
		return flatness{why: fmt.Sprintf("%s is too unsteady to call it flat yet: %+.2g ± %s/min", name, t.slope*6000, percent(half*60))}
	}
	return flatness{clear: true}
}

func direction(slope float64, up, down string) string {
	if slope > 0 {
		return up
	}
	return down
}

// percent writes a share with two digits.
func percent(share float64) string { return fmt.Sprintf("%.2g %%", share*100) }
