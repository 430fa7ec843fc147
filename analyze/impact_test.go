package analyze

import (
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/series"
)

// arriving are seconds of operations that arrive at a rate by chance, all of them done, at a p99.
func arriving(start time.Time, n int, rate float64, p99 time.Duration) []Second {
	arrivals := distuv.Poisson{Lambda: rate, Src: newRand()}
	out := make([]Second, n)
	for i := range out {
		done := int64(arrivals.Rand())
		h := series.NewHistogram()
		h.RecordN(p99, done)
		out[i] = Second{
			Start: start.Add(time.Duration(i) * time.Second), Length: time.Second,
			Tally: series.Tally{Scheduled: done, Done: done}, Response: h.Snapshot(), Service: h.Snapshot(),
		}
	}
	return out
}

// Where operations arrive by chance and all of them are done, a second with few is no fall, and nothing is lost.
func TestAllThatArrivedWasDone(t *testing.T) {
	baseline := arriving(epoch, 20, 100, 10*time.Millisecond)
	during := arriving(epoch.Add(20*time.Second), 60, 98, 30*time.Millisecond) // felt as response time
	got := ImpactOnArrivals(baseline, during, Options{})
	if got.Onset.IsZero() || got.WorstSecond > 0.9 {
		t.Fatalf("the case is none: %+v", got)
	}
	if !got.Open || !got.Usual || got.LostOps != 0 || got.Undone != 0 {
		t.Errorf("chance is told as an effect: %+v", got)
	}
	for _, d := range DipsOf(baseline, during, Options{Replicates: 20}) {
		if !d.Usual {
			t.Errorf("a dip of chance: %+v", d)
		}
	}
	if closed := ImpactOf(baseline, during, Options{}); !closed.Usual || closed.LostOps != 0 {
		t.Errorf("what the baseline varies by is told as an effect: %+v", closed)
	}
}

// What arrived and was not done is counted, one by one, and less what fails every day.
func TestWhatArrivedAndWasNotDone(t *testing.T) {
	baseline, during := arriving(epoch, 30, 100, 10*time.Millisecond), arriving(epoch.Add(30*time.Second), 60, 100, 10*time.Millisecond)
	for i := 20; i < 25; i++ { // a freeze, whose operations time out or are never sent
		during[i].Tally = series.Tally{Scheduled: 100, Errors: 40, Skipped: 60}
	}
	got := ImpactOnArrivals(baseline, during, Options{})
	if got.LostOps != 500 || got.Undone != 500 || got.Usual || got.WorstSecond != 0 {
		t.Errorf("500 were lost: %+v", got)
	}
	for _, s := range [][]Second{baseline, during} {
		for i := range s {
			s[i].Scheduled, s[i].Errors = s[i].Scheduled+10, s[i].Errors+10
		}
	}
	if got := ImpactOnArrivals(baseline, during, Options{}); !near(got.LostOps, 500, 60) || got.Undone != 1100 {
		t.Errorf("500 more than every day: %+v", got)
	}
	// A fall that does not end keeps waiting what it does not do.
	during = arriving(epoch.Add(30*time.Second), 60, 60, 10*time.Millisecond)
	if got := ImpactOnArrivals(slices.Clone(baseline), during, Options{}); got.Usual || !near(got.LostOps, 2400, 300) {
		t.Errorf("2,400 wait: %+v", got)
	}
}
