package load_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"plimsoll/load"
)

// These run by the machine's own clock, on the alarms of production, on machines that may be busy: what they assert holds
// however late a thread gets its turn. bench_test.go measures how late.

// An operation costs no memory, in neither loop.
func TestNoAllocations(t *testing.T) {
	poisson, err := load.Poisson(1, load.Constant(100_000))
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]load.Spec{
		"closed": {Connections: 8},
		"open":   {Connections: 8, Schedule: poisson},
	} {
		spec.Operations = fiveOperations
		mallocs := func(duration time.Duration) (uint64, int64) {
			spec.Duration = duration
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, err := load.Run(t.Context(), spec, connectNull, nil)
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.Mallocs - before.Mallocs, out.All.Scheduled
		}
		few, n := mallocs(50 * time.Millisecond) // what a run costs in any case
		more, m := uint64(0), int64(0)
		for length := 300 * time.Millisecond; m < 1000 && length < time.Minute; length *= 2 { // it may get no turn for so long
			more, m = mallocs(length)
		}
		if each := (float64(more) - float64(few)) / float64(m); m < 1000 || each > 0.005 {
			t.Errorf("%s: %.4f allocations per operation (%d in %d operations, %d in %d)", name, each, few, n, more, m)
		}
	}
}

// All operations of a schedule are issued, however many are due at once, and the rate is met.
func TestOpenLoopByTheRealClock(t *testing.T) {
	for _, rate := range []float64{100, 5_000, 100_000} {
		s, err := load.Uniform(load.Constant(rate))
		if err != nil {
			t.Fatal(err)
		}
		const length = 300 * time.Millisecond
		var out load.Summary
		for try := 0; out.All.Done == 0 && try < 20; try++ { // it may get no turn for so long
			out, err = load.Run(t.Context(), load.Spec{Operations: fiveOperations, Connections: 16, Duration: length, Schedule: s}, connectNull, nil)
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := int64(math.Ceil(rate * length.Seconds())); out.All.Scheduled != want || !out.All.Balanced() || out.All.Errors > 0 {
			t.Errorf("at %v: %+v, want %d", rate, out.All.Tally, want)
		}
		if out.All.Done == 0 {
			t.Errorf("at %v: none of %d operations was done", rate, out.All.Scheduled)
		}
	}
}

func TestAlarms(t *testing.T) {
	for name, make := range map[string]func() (load.Alarm, error){"precise": load.NewPreciseAlarm, "timer": load.NewTimer} {
		t.Run(name, func(t *testing.T) {
			a, err := make()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Close() }()
			wait := func(what string, least, most time.Duration) {
				t.Helper()
				start := time.Now()
				a.Wait()
				if took := time.Since(start); took < least || took > most {
					t.Errorf("%s: waited %v, want %v to %v", what, took, least, most)
				}
			}
			const far = 20 * time.Second // longer than any machine stalls
			a.Set(20 * time.Millisecond)
			wait("set", 19*time.Millisecond, far)
			a.Set(time.Hour)
			a.Set(20 * time.Millisecond)
			wait("set again", 19*time.Millisecond, far)
			a.Set(time.Hour)
			a.Ring()
			wait("rung before", 0, far)
			a.Set(time.Hour)
			time.AfterFunc(20*time.Millisecond, a.Ring)
			wait("rung meanwhile", 19*time.Millisecond, far)
			a.Set(20 * time.Millisecond)
			wait("set after a ring", 19*time.Millisecond, far)
			a.Set(0)
			wait("set for now", 0, far)
			time.AfterFunc(20*time.Millisecond, func() { a.Set(20 * time.Millisecond) })
			wait("set by another", 39*time.Millisecond, far)
		})
	}
}
