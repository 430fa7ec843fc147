package main

import (
	"fmt"
	"math"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

// A simulated disturbance: a minute of baseline, then two minutes in which throughput falls by a share, somewhere between
// the 10th and the 40th second, for 20 to 50 s.
const (
	baselineSeconds = 60
	duringSeconds   = 120
)

// dating is how far the dates of a simulated disturbance are off, in seconds.
type dating struct {
	found, recovered bool
	onset, back      float64
	lost             float64 // operations said to be lost / operations lost, minus 1
}

func (d dating) onsetWithin(seconds float64) bool { return d.found && math.Abs(d.onset) <= seconds }
func (d dating) backWithin(seconds float64) bool  { return d.recovered && math.Abs(d.back) <= seconds }

// impacts is the section on dating a disturbance.
func impacts(s study) (string, error) {
	t := newTable("throughput falls by", "correlation", "onset exact", "onset ±1 s", "found", "recovery ±1 s", "recovery ±2 s", "lost operations off by, median")
	for _, fall := range []float64{0.1, 0.2, 0.3, 0.5, 1} {
		for _, correlation := range []float64{0, 0.6, 0.8} {
			results := repeat(s, fmt.Sprint("impact", fall, correlation), s.trials(300), func(src *source) dating {
				return disturb(src, service{correlation: correlation, noise: 0.1, times: none}, fall)
			})
			var lost []float64
			for _, r := range results {
				lost = append(lost, math.Abs(r.lost))
			}
			t.row(percent(fall), fmt.Sprint(correlation),
				percent(count(results, func(d dating) bool { return d.onsetWithin(0) }).share()),
				count(results, func(d dating) bool { return d.onsetWithin(1) }).String(),
				percent(count(results, func(d dating) bool { return d.found }).share()),
				count(results, func(d dating) bool { return d.backWithin(1) }).String(),
				percent(count(results, func(d dating) bool { return d.backWithin(2) }).share()),
				percent(median(lost)))
		}
	}
	quiet := newTable("correlation", "onset found where nothing happened, in 2 min")
	for _, correlation := range []float64{0, 0.6, 0.8, 0.95} {
		results := repeat(s, fmt.Sprint("quiet", correlation), s.trials(300), func(src *source) dating {
			return disturb(src, service{correlation: correlation, noise: 0.1, times: drawn}, 0)
		})
		quiet.row(fmt.Sprint(correlation), count(results, func(d dating) bool { return d.found }).String())
	}
	return `After a minute of baseline, throughput falls for 20 to 50 s and comes back. It varies by 5 % from second to second by
itself. The dates found are compared with the true ones; the goal is ±1 s for a fall of 20 % or more.

` + t.String() + `
And where nothing happens, with a p99 that varies by about 15 % from second to second looked at as well:

` + quiet.String(), nil
}

// disturb simulates one disturbance and compares what is seen with what was done.
func disturb(src *source, w service, fall float64) dating {
	onset := 10 + src.rng.IntN(30)
	back := onset + 20 + src.rng.IntN(30)
	levels := src.levels(w, baselineSeconds+duringSeconds)
	seconds := src.seconds(levels, w.times)
	var lost float64
	for i := range seconds {
		if at := i - baselineSeconds; at >= onset && at < back {
			done := float64(seconds[i].Done) * (1 - fall)
			lost += float64(seconds[i].Done) - math.Round(done)
			seconds[i].Tally = series.Tally{Scheduled: int64(math.Round(done)), Done: int64(math.Round(done))}
		}
	}
	baseline, during := seconds[:baselineSeconds], seconds[baselineSeconds:]
	i := analyze.ImpactOf(baseline, during, analyze.Options{Replicates: 20})
	off := func(found time.Time, at int) float64 { return found.Sub(during[at].Start).Seconds() }
	return dating{
		found: !i.Onset.IsZero(), onset: off(i.Onset, onset),
		recovered: !i.Recovered.IsZero(), back: off(i.Recovered, back),
		lost: i.LostOps/lost - 1,
	}
}
