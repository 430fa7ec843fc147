package analyze

import (
	"slices"
	"testing"
	"time"
)

func TestChangePointsOfSteps(t *testing.T) {
	rng := newRand()
	for _, correlation := range []float64{0, 0.6} {
		noise := NoiseOf(noisy(rng, 300, 1, 0.05, correlation))
		values := slices.Concat(noisy(rng, 40, 1, 0.05, correlation), noisy(rng, 25, 0.6, 0.08, correlation), noisy(rng, 60, 1, 0.05, correlation))
		cuts := ChangePoints(values, noise)
		if !slices.Equal(cuts, []int{40, 65}) {
			t.Errorf("ρ=%v: %v, want 40 and 65", correlation, cuts)
		}
	}
}

func TestChangePointsOfNothing(t *testing.T) {
	for _, values := range [][]float64{nil, {1}, {1, 1, 1, 1, 1}} {
		if cuts := ChangePoints(values, NoiseOf(values)); len(cuts) > 0 {
			t.Errorf("%v changes at %v", values, cuts)
		}
	}
	// A rate that never varies still has its changes seen.
	if cuts := ChangePoints([]float64{5, 5, 5, 5, 2, 2, 2}, Noise{Size: 1}); !slices.Equal(cuts, []int{4}) {
		t.Errorf("%v, want 4", cuts)
	}
}

func TestImpactOfAnOutageAndItsCatchingUp(t *testing.T) {
	rng := newRand()
	baseline := counted(epoch, noisy(rng, 60, 1000, 0.02, 0.3)...)
	values := noisy(rng, 90, 1000, 0.02, 0.3)
	for i := 20; i < 30; i++ {
		values[i] = 0
	}
	values[30], values[31] = 3500, 3500 // half of what was due is worked off
	during := counted(epoch.Add(time.Minute), values...)
	for i := 20; i < 23; i++ {
		during[i].Errors = 4
	}
	got := ImpactOf(baseline, during, Options{})
	at := func(second int) time.Time { return during[second].Start }
	if !got.Onset.Equal(at(20)) || !got.Recovered.Equal(at(30)) || got.Took != 10*time.Second {
		t.Errorf("from %v to %v", got.Onset, got.Recovered)
	}
	if !near(got.LostOps, 10_000, 300) || got.ErrorSeconds != 3 || got.WorstSecond != 0 || got.Worst.Before(at(20)) {
		t.Errorf("%+v", got)
	}
	if got.Depth.Value != 0 {
		t.Errorf("depth %+v", got.Depth)
	}
}

func TestImpactThatDoesNotEnd(t *testing.T) {
	rng := newRand()
	baseline := counted(epoch, noisy(rng, 60, 1000, 0.03, 0.3)...)
	during := counted(epoch.Add(time.Minute), slices.Concat(noisy(rng, 15, 1000, 0.03, 0.3), noisy(rng, 45, 700, 0.03, 0.3))...)
	got := ImpactOf(baseline, during, Options{})
	if !got.Onset.Equal(during[15].Start) || !got.Recovered.IsZero() || got.Took != 0 {
		t.Errorf("from %v to %v", got.Onset, got.Recovered)
	}
	if !(got.Depth.Low < 0.7 && 0.7 < got.Depth.High && got.Depth.High < 0.75) {
		t.Errorf("depth %+v, want about 0.7", got.Depth)
	}
}

func TestImpactOfSlownessAlone(t *testing.T) {
	slow := func(p99 time.Duration) Second {
		var times []time.Duration
		for i := range 200 {
			times = append(times, time.Duration(i+1)*p99/200)
		}
		return second(times...)
	}
	rng := newRand()
	period := func(from time.Time, levels ...float64) (out []Second) {
		for i, level := range levels {
			s := slow(time.Duration(level * float64(time.Millisecond)))
			s.Start = from.Add(time.Duration(i) * time.Second)
			out = append(out, s)
		}
		return out
	}
	baseline := period(epoch, noisy(rng, 60, 10, 0.1, 0.3)...)
	during := period(epoch.Add(time.Minute), slices.Concat(noisy(rng, 12, 10, 0.1, 0.3), noisy(rng, 20, 40, 0.1, 0.3), noisy(rng, 40, 10, 0.1, 0.3))...)
	got := ImpactOf(baseline, during, Options{})
	if !got.Onset.Equal(during[12].Start) || !got.Recovered.Equal(during[32].Start) {
		t.Errorf("from %v to %v", got.Onset, got.Recovered)
	}
	if !near(got.Depth.Value, 1, 0.01) || got.LostOps > 100 {
		t.Errorf("nothing was lost: %+v", got)
	}
}

func TestImpactWithoutABaseline(t *testing.T) {
	during := counted(epoch, 100, 100, 0, 0, 0)
	if got := ImpactOf(nil, during, Options{}); !got.Onset.IsZero() {
		t.Errorf("%+v", got)
	}
	if got := ImpactOf(during, nil, Options{}); !got.Onset.IsZero() || !got.Worst.IsZero() {
		t.Errorf("%+v", got)
	}
}
