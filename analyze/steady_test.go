package analyze

import (
	"strings"
	"testing"
	"time"
)

// feed gives the detector seconds of a throughput and a p99, and returns after how many it was steady first.
func feed(s *Steady, throughput []float64, p99 []float64) int {
	for i, rate := range throughput {
		x := second(time.Duration(p99[i] * float64(time.Millisecond)))
		x.Done = int64(rate)
		s.Add(x)
		if s.Steady() {
			return i + 1
		}
	}
	return 0
}

func line(n int, from, perSecond float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + perSecond*float64(i)
	}
	return out
}

func TestSteadySaysWhyNot(t *testing.T) {
	rng := newRand()
	wobble := func(values []float64) []float64 {
		for i := range values {
			values[i] *= 1 + 0.01*rng.NormFloat64()
		}
		return values
	}
	step := line(60, 10_000, 0)
	for i := 57; i < 60; i++ {
		step[i] = 7000
	}
	for _, c := range []struct {
		name            string
		throughput, p99 []float64
		want            string
	}{
		{"few", line(5, 1000, 0), line(5, 5, 0), "5 of at least 20 s seen"},
		{"rising", wobble(line(60, 10_000, 50)), wobble(line(60, 5, 0)), "throughput still rises 2"},
		{"slower", wobble(line(60, 10_000, 0)), wobble(line(60, 5, 0.05)), "p99 still rises"},
		{"dead", line(60, 0, 0), line(60, 5, 0), "no operation completes"},
	} {
		s := NewSteady(SteadyOptions{Horizon: time.Minute})
		if n := feed(s, c.throughput, c.p99); n != 0 || !strings.Contains(s.Why(), c.want) {
			t.Errorf("%s: steady after %d s, why %q, want …%s…", c.name, n, s.Why(), c.want)
		}
	}
	s := NewSteady(SteadyOptions{Horizon: time.Minute})
	for i, rate := range wobble(step) {
		x := second(5 * time.Millisecond)
		x.Done = int64(rate)
		s.Add(x)
		_ = i
	}
	if !strings.Contains(s.Why(), "throughput") || s.Steady() {
		t.Errorf("after a step: %q", s.Why())
	}
}

func TestSteadyEndsSoonWhenAllIsFlat(t *testing.T) {
	rng := newRand()
	for horizon, most := range map[time.Duration]int{30 * time.Second: 20, time.Minute: 30, 10 * time.Minute: 75} {
		s := NewSteady(SteadyOptions{Horizon: horizon})
		if n := feed(s, noisy(rng, 200, 10_000, 0.02, 0), noisy(rng, 200, 5, 0.05, 0)); n == 0 || n > most {
			t.Errorf("to measure %v: steady after %d s, want at most %d; %s", horizon, n, most, s.Why())
		}
	}
}

func TestSteadyOfARateThatNeverVaries(t *testing.T) {
	s := NewSteady(SteadyOptions{Horizon: 30 * time.Second})
	if n := feed(s, line(30, 1000, 0), line(30, 5, 0)); n != 10 {
		t.Errorf("steady after %d s, want 10; %s", n, s.Why())
	}
}

func TestSteadyIsLostAgain(t *testing.T) {
	s := NewSteady(SteadyOptions{Horizon: 30 * time.Second})
	feed(s, line(30, 1000, 0), line(30, 5, 0))
	x := second(5 * time.Millisecond)
	x.Done = 700
	s.Add(x)
	if s.Steady() || !strings.Contains(s.Why(), "throughput fell 31 %") {
		t.Errorf("after a fall: %q", s.Why())
	}
	s.Add(Second{Length: time.Second})
	if s.Steady() {
		t.Error("steady although nothing completes")
	}
}

func TestAFallOfTheTailIsAShareOfIt(t *testing.T) {
	s := NewSteady(SteadyOptions{Horizon: 30 * time.Second})
	feed(s, line(30, 1000, 0), line(30, 50, 0))
	for range 2 {
		x := second(5 * time.Millisecond)
		x.Done = 1000
		s.Add(x)
	}
	if s.Steady() || !strings.Contains(s.Why(), "p99 fell 90 %") {
		t.Errorf("a tenth is left: %q", s.Why())
	}
}
