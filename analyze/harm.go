package analyze

import (
	"math"
	"slices"
)

// What a disturbance must do, beyond what chance does, to be called harm.
const (
	leastLoss     = 0.05 // of the baseline's throughput
	leastSlowdown = 0.20 // of its p99 response time
	leastSum      = 0.10 // of either, over the seconds of the period: a single second must lose a tenth
	leastErrors   = 0.01 // of what was scheduled in a second, beyond what fails in the baseline
)

// harm tells for each second what was worse in it than in the baseline.
type harm struct{ loss, slow, errors marks }

// any tells for each second whether anything was worse.
func (h harm) any() []bool {
	all := make([]bool, len(h.loss))
	for i := range all {
		all[i] = h.loss[i] || h.slow[i] || h.errors[i]
	}
	return all
}

// harmed tells for each second whether it lies in a period, bounded by change points, in which throughput is lower or the
// p99 response time longer than in the baseline, or has more errors than the baseline's share of them explains.
func harmed(baseline, seconds []Second) harm {
	h := harm{make(marks, len(seconds)), make(marks, len(seconds)), make(marks, len(seconds))}
	normal := Value(Throughput(), baseline)
	if !(normal > 0) {
		return h
	}
	loss := func(all []Second) []float64 {
		out := make([]float64, len(all))
		for i, s := range all {
			out[i] = 1 - throughput(s)/normal
		}
		return out
	}
	markRises(h.loss, loss(baseline), loss(seconds), leastLoss)
	markRises(h.slow, slowness(baseline), slowness(seconds), math.Log1p(leastSlowdown))
	markErrors(h.errors, baseline, seconds)
	return h
}

// slowness is the log of each second's p99 response time; a second in which nothing completed is as slow as the last one.
func slowness(seconds []Second) []float64 {
	var out []float64
	for _, s := range seconds {
		switch {
		case s.Response.Count() > 0:
			out = append(out, math.Log(milliseconds(s.Response.Quantile(0.99))))
		case len(out) > 0:
			out = append(out, out[len(out)-1])
		}
	}
	missing := len(seconds) - len(out) // at the front
	if len(out) == 0 {
		return make([]float64, missing)
	}
	return append(slices.Repeat(out[:1], missing), out...)
}

// markRises marks the pieces of a series whose level lies above that of the baseline by more than least, and by more than
// the noise of both explains.
func markRises(marks []bool, baseline, series []float64, least float64) {
	noise, normal := NoiseOf(baseline), mean(baseline)
	cuts := ChangePoints(slices.Concat(baseline, series), noise)
	from := 0
	for _, cut := range append(cuts, len(baseline)+len(series)) {
		to := cut - len(baseline)
		if to <= from {
			continue
		}
		rise := mean(series[from:to]) - normal
		if err := math.Hypot(noise.ofMean(to-from), noise.ofMean(len(baseline))); rise > least && rise > 4*err && rise*float64(to-from) > leastSum {
			for i := from; i < to; i++ {
				marks[i] = true
			}
		}
		from = to
	}
}

// markErrors marks the seconds with more errors than the share that fails in the baseline: by four standard deviations of a
// count, of which one error is not enough.
func markErrors(marks []bool, baseline, seconds []Second) {
	var failed, scheduled float64
	for _, s := range baseline {
		failed, scheduled = failed+float64(s.Errors), scheduled+float64(s.Scheduled)
	}
	for i, s := range seconds {
		expected := (failed + 0.5) / (scheduled + 1) * float64(s.Scheduled)
		excess := float64(s.Errors) - expected
		if s.Errors > 1 && excess > 4*math.Sqrt(expected) && excess > leastErrors*float64(s.Scheduled) {
			marks[i] = true
		}
	}
}
