package analyze

import (
	"fmt"
	"math"
	"time"
)

// SteadyOptions say how flat is flat. The zero value is for a measurement of ten minutes.
type SteadyOptions struct {
	// Horizon is how long will be measured; what matters is the drift over that time. Default: 10 min.
	Horizon time.Duration
	// Drift is how much throughput and p99 response time may plainly change over the horizon, as a share. Default: 0.02.
	Drift float64
	// Window is the shortest time that is looked at. Default: a third of the horizon, at least 10 s and at most 1 min.
	Window time.Duration
	// Confidence of the slopes' intervals.
	// Default: 0.95.
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
		o.Confidence = 0.95
	}
	o.Window = max(o.Window, 5*time.Second) // fewer hold no slope
	return o
}

// Steady is fed the seconds of a warm-up and tells when it is over: when throughput and the log of the p99 response time
// are flat. That is so when, over the latest seconds, at least Window of them,
//
//   - the interval of the slope lies inside ±limit, where limit = Drift/Horizon · (Horizon/Window)^1.5, and three times
//     that for p99, which varies so much more;
//   - no slope above Drift/Horizon is evident in them, nor in twice as many if these could have gone on in the same way;
//   - the very latest do not lie apart from the rest.
//
// The first rule asks that enough is known. With a window as long as the horizon it is the strict one: the interval of the
// slope inside ±2 % in ten minutes. A shorter window can only know its slope so much worse, as the error of a slope falls
// with the power 1.5 of the time, and is allowed just that. A noisy service is watched for longer, until its slope is known
// as well. The second rule sees what is small but plain, the third what has only just happened.
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

// judge looks back over longer and longer periods until one is clear.
func (s *Steady) judge() {
	shortest, seen := int(s.options.Window/time.Second), len(s.throughput)
	if seen < shortest {
		s.why = fmt.Sprintf("%d of at least %d s seen", seen, shortest)
		return
	}
	for n := shortest; ; n = min(n*5/4+1, seen) {
		f := s.over(n)
		s.why = f.why
		if f.state != unclear || n == seen {
			return
		}
	}
}

// over judges the last n seconds by both series.
func (s *Steady) over(n int) flatness {
	const tailLeeway = 3
	from := max(len(s.throughput)-2*n, 0)
	rates, p99s := s.throughput[from:], s.p99[from:]
	normal := mean(rates)
	if normal == 0 {
		return flatness{sloping, "no operation completes"}
	}
	shares := make([]float64, len(rates))
	for i, x := range rates {
		shares[i] = x / normal
	}
	allowed, limit := s.options.slopes()
	throughput := flatnessOf("throughput", asIs, shares, n, allowed, limit, s.options.Confidence)
	p99 := flatnessOf("p99", math.Expm1, p99s, n, allowed, tailLeeway*limit, s.options.Confidence)
	if p99.state > throughput.state {
		return p99
	}
	return throughput
}

// slopes are the largest slope that may be evident and the limit for what may be possible, a second.
func (o SteadyOptions) slopes() (allowed, limit float64) {
	allowed = o.Drift / o.Horizon.Seconds()
	return allowed, allowed * math.Pow(o.Horizon.Seconds()/o.Window.Seconds(), 1.5)
}
