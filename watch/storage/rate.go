package storage

import (
	"math"
	"time"
)

const (
	// newMinutes is how many minutes decide what the load is now; what is older counts while it was the same.
	newMinutes = 5
	// mostMinutes is how far back the load is looked at.
	mostMinutes = 60
)

// rate is the load of the last minutes: the mean of as many of them as do not differ from the last five. Single seconds and minutes of a steady
// load differ from one another, and where little more is asked than a volume gives for ever, a small error of the mean is a large one of the time
// that is left.
type rate struct {
	minutes []float64     // mean IOPS of whole minutes, the oldest first
	now     float64       // of the minute that is not whole yet
	over    time.Duration // how much of it was seen
}

// add takes the mean IOPS of a period. One of several minutes counts as one minute: how those differed from one another it does not tell.
// Parts of it are mixed with none of what came before, or minutes that are mixtures of two readings would differ less than the load does.
func (r *rate) add(iops float64, over time.Duration) {
	if over >= time.Minute {
		r.now, r.over = iops, time.Minute
		r.turn()
		return
	}
	for over > 0 {
		part := min(over, time.Minute-r.over)
		over -= part
		r.over += part
		r.now += (iops - r.now) * float64(part) / float64(r.over)
		if r.over < time.Minute {
			return
		}
		r.turn()
	}
}

// turn ends a minute.
func (r *rate) turn() {
	r.minutes = append(r.minutes, r.now)
	r.minutes = r.minutes[max(0, len(r.minutes)-mostMinutes):]
	r.now, r.over = 0, 0
}

// mean is the load of now, and half of the width of its 95 % interval; the latter is infinite before five minutes were seen.
func (r *rate) mean() (iops, margin float64) {
	if len(r.minutes) < newMinutes {
		return r.withNow(r.minutes), math.Inf(1)
	}
	from := len(r.minutes) - newMinutes
	for from >= newMinutes && alike(r.minutes[from:], r.minutes[from-newMinutes:from]) {
		from -= newMinutes
	}
	steady := r.minutes[from:]
	_, deviation := moments(steady)
	n := float64(len(steady))
	return r.withNow(steady), student(n-1) * deviation / math.Sqrt(n)
}

// withNow is the mean of minutes and of what was seen of the present one.
func (r *rate) withNow(minutes []float64) float64 {
	mean, _ := moments(minutes)
	whole, part := float64(len(minutes)), r.over.Minutes()
	if whole+part == 0 {
		return r.now
	}
	return (mean*whole + r.now*part) / (whole + part)
}

// alike says whether the mean of older minutes differs from that of newer ones by less than three standard errors of their difference. How minutes
// differ from one another is taken from the newer ones alone: older ones that a change of the load cuts in two would be like everything.
func alike(newer, older []float64) bool {
	mean, deviation := moments(newer)
	before, _ := moments(older)
	return math.Abs(mean-before) <= 3*deviation*math.Sqrt(1/float64(len(newer))+1/float64(len(older)))
}

// moments are the mean and the standard deviation of a sample, 0 of fewer than two values.
func moments(values []float64) (mean, deviation float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)-1))
}

// student is the 97.5 % quantile of Student's distribution, by the expansion of Abramowitz and Stegun, 26.7.5, with its first three terms: for four
// degrees of freedom and more it is within 1 %.
func student(freedom float64) float64 {
	const z = 1.959964
	return z + (z*z*z+z)/(4*freedom) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*freedom*freedom) +
		(3*z*z*z*z*z*z*z+19*z*z*z*z*z+17*z*z*z-15*z)/(384*freedom*freedom*freedom)
}
