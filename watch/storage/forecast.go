package storage

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Week are the IOPS that were seen in earlier weeks, by the hour of the week, from Sunday midnight UTC.
type Week [168][]float64

// HourOf is the hour of the week of a time.
func HourOf(t time.Time) int {
	t = t.UTC()
	return int(t.Weekday())*24 + t.Hour()
}

// Add adds IOPS that were seen at a time.
func (w *Week) Add(at time.Time, iops float64) {
	h := HourOf(at)
	w[h] = append(w[h], iops)
}

// Outlook is when a bucket will be empty.
type Outlook struct{ P10, P50, P90 time.Duration }

const (
	// Horizon is the time beyond which nothing is said.
	Horizon = 14 * 24 * time.Hour
	trials  = 200
	step    = 5 * time.Minute
)

// Forecast runs a bucket over weeks put together from what was seen at the same hours of the week. False of a quantile that lies
// beyond the horizon, or if there is nothing to go by: then the outlook holds the horizon in its place.
func (w *Week) Forecast(b Bucket, from time.Time, seed uint64) (Outlook, bool) {
	if b.Size == 0 {
		return Outlook{}, false
	}
	all := slices.Concat(w[:]...)
	if len(all) == 0 {
		return Outlook{}, false
	}
	random := rand.New(rand.NewPCG(seed, 1))
	times := make([]time.Duration, trials)
	for n := range times {
		times[n] = w.run(b, from, all, random)
	}
	slices.Sort(times)
	at := func(q float64) time.Duration { return times[int(q*float64(trials-1))] }
	o := Outlook{P10: at(0.1), P50: at(0.5), P90: at(0.9)}
	return o, o.P10 < Horizon
}

// run is the time until the bucket is empty in one course of things. An hour that was never seen is any hour.
func (w *Week) run(b Bucket, from time.Time, all []float64, random *rand.Rand) time.Duration {
	for passed := time.Duration(0); passed < Horizon; passed += step {
		seen := w[HourOf(from.Add(passed))]
		if len(seen) == 0 {
			seen = all
		}
		iops := seen[random.IntN(len(seen))]
		if left, empties := b.Empties(iops); empties && left <= step {
			return passed + left
		}
		b = b.Step(iops, step)
	}
	return Horizon
}
