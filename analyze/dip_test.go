package analyze

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"plimsoll/series"
)

// Two dips of a fifth, and one period of slow responses at full throughput, each dated within a second of the truth, in a
// service whose seconds vary and are correlated.
func TestDipsAreDatedOneByOne(t *testing.T) {
	t.Logf("seed %d", testSeed)
	const trials, late = 40, 1
	for _, correlation := range []float64{0, 0.6} {
		rng := newRand()
		good := 0
		for range trials {
			if slices.Equal(dated(rng, correlation, late), []int{12, 40, 70}) {
				good++
			}
		}
		if good < trials-3 {
			t.Errorf("correlation %v: all dips dated in %d of %d series", correlation, good, trials)
		}
	}
}

// dated simulates a minute of baseline and 100 s of disturbance and returns the onsets found, each as the true one if it is
// no more than late seconds off.
func dated(rng *rand.Rand, correlation float64, late int) []int {
	values := noisy(rng, 160, 1000, 0.04, correlation)
	seconds := counted(epoch, values...)
	for i := range seconds {
		slow := 1.0
		switch at := i - 60; {
		case at >= 12 && at < 27, at >= 40 && at < 60:
			seconds[i] = counted(seconds[i].Start, values[i]*0.78)[0]
		case at >= 70 && at < 80:
			slow = 2.1
		}
		h := series.NewHistogram()
		for range 500 {
			h.Record(time.Duration(slow * (5 + rng.ExpFloat64()) * float64(time.Millisecond)))
		}
		seconds[i].Response, seconds[i].Service = h.Snapshot(), h.Snapshot()
	}
	var onsets []int
	for _, d := range DipsOf(seconds[:60], seconds[60:], Options{Replicates: 20}) {
		at := int(d.Onset.Sub(seconds[60].Start) / time.Second)
		for _, truth := range []int{12, 40, 70} {
			if at >= truth-late && at <= truth+late {
				at = truth
			}
		}
		onsets = append(onsets, at)
	}
	return onsets
}

func TestADipSaysHowDeepAndHowLong(t *testing.T) {
	t.Logf("seed %d", testSeed)
	rng := newRand()
	seconds := counted(epoch, noisy(rng, 100, 1000, 0.02, 0)...)
	for i := 70; i < 80; i++ {
		seconds[i] = counted(seconds[i].Start, 500)[0]
		seconds[i].Errors, seconds[i].Scheduled = 5, 505
	}
	dips := DipsOf(seconds[:60], seconds[60:], Options{Replicates: 200})
	if len(dips) != 1 {
		t.Fatalf("%d dips, want 1: %+v", len(dips), dips)
	}
	d := dips[0]
	if d.Took != 10*time.Second || d.Seconds != 10 || d.Errors != 50 || !near(d.Depth.Value, 0.5, 0.02) ||
		d.Depth.Low > 0.5 || d.Depth.High < 0.5 || d.Depth.High-d.Depth.Low > 0.1 {
		t.Errorf("%+v", d)
	}
	if cut := DipsOf(seconds[:60], seconds[60:75], Options{Replicates: 20}); len(cut) != 1 || !cut[0].Recovered.IsZero() {
		t.Errorf("a dip that goes on to the end of the data: %+v", cut)
	}
	if none := DipsOf(seconds[:60], seconds[80:], Options{Replicates: 20}); len(none) != 0 {
		t.Errorf("where nothing happened: %+v", none)
	}
}

// A few operations that fail are felt, however little of the throughput they are; the errors of every day are not.
func TestErrorsAreHarm(t *testing.T) {
	seconds := counted(epoch, noisy(newRand(), 100, 1000, 0.05, 0)...)
	for i := range seconds {
		seconds[i].Scheduled += 3
		seconds[i].Errors = 3 // deadlocks
	}
	if dips := DipsOf(seconds[:60], seconds[60:], Options{Replicates: 20}); len(dips) != 0 {
		t.Errorf("as many errors as in the baseline: %+v", dips)
	}
	seconds[75].Scheduled, seconds[75].Errors = seconds[75].Scheduled+32, 35
	dips := DipsOf(seconds[:60], seconds[60:], Options{Replicates: 20})
	if len(dips) != 1 || dips[0].Onset != seconds[75].Start || dips[0].Errors != 35 || dips[0].Seconds != 1 {
		t.Errorf("a second with many errors: %+v", dips)
	}
}
