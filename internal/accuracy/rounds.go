package main

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/analyze"
)

// countedService has only counts: its throughput varies by 4 % from second to second.
func countedService(correlation float64) service {
	return service{correlation: correlation, noise: 0.08, times: none}
}

// minuteVaries is how much the mean throughput of a minute varies in countedWorld(0.6), as a share.
const minuteVaries = 0.0102

// interval is what a ratio of throughputs came out as.
type interval struct{ low, high float64 }

func (i interval) covers(x float64) bool { return i.low <= x && x <= i.high }

// half is half the width, as a share.
func (i interval) half() float64 { return math.Log(i.high/i.low) / 2 }

// differing is the section on rounds that differ by more than their seconds explain.
func differing(s study) (string, error) {
	t := newTable("rounds", "b of one cell", "b of the other", "outside the interval: above", "below", "half width, median", "of Student's t, median", "of the seconds alone")
	for _, rounds := range []int{2, 3, 5} {
		for _, b := range [][2]float64{{0, 0}, {0.5, 0.5}, {1, 1}, {3, 3}, {10, 10}, {0, 3}, {0, 10}} {
			ratios, students := throughputRatios(s, rounds, b[0], b[1])
			var halves []float64
			for _, r := range ratios {
				halves = append(halves, r.half())
			}
			t.row(fmt.Sprint(rounds), fmt.Sprint(b[0]), fmt.Sprint(b[1]),
				count(ratios, func(i interval) bool { return i.low > 1 }).String(),
				count(ratios, func(i interval) bool { return i.high < 1 }).String(),
				percent(median(halves)), percent(median(students)),
				percent(2.576*minuteVaries*math.Sqrt(2/float64(rounds))))
		}
	}
	return `A restart, another place in memory, a neighbour: rounds of a database differ by more than their seconds explain. Let *b* be how
many times more the mean of a round of 60 s varies for such reasons than for its seconds (correlation 0.6, throughput
varying by 4 % from second to second). Both cells are alike on average, so that the true ratio is 1; nominally the 99 % interval
of the ratio lies wholly above it in 0.5 % of the trials, and wholly below it in as many: these are the false FAILs and
PASSes of whoever asks. The goal is at most 1 % on each side for any *b*.

` + t.String() + `
Of two or three rounds hardly anything can be known about how rounds differ, and their intervals are wide. The interval is narrower than
Student's t, most where the rounds agree with each other as well as their seconds say they should; it is never as narrow as what
the seconds alone would give.
`, nil
}

// throughputRatios are the intervals of trials of two cells whose rounds differ, and the half widths that Student's t gives.
func throughputRatios(s study, rounds int, over, under float64) (intervals []interval, students []float64) {
	service := func(b float64) service {
		w := countedService(0.6)
		w.rounds = 2 * b * minuteVaries // throughput goes with the root of the level
		return w
	}
	type result struct {
		interval
		student float64
	}
	results := repeat(s, fmt.Sprint("rounds", rounds, over, under), s.trials(600), func(src *source) result {
		a, b := src.rounds(service(over), rounds, 60, 1), src.rounds(service(under), rounds, 60, 1)
		e := analyze.RatioOf(
			analyze.Quantity{Rounds: a, Statistic: analyze.Throughput()},
			analyze.Quantity{Rounds: b, Statistic: analyze.Throughput()},
			analyze.Options{})
		var logs []float64
		for r := range a {
			logs = append(logs, math.Log(analyze.Value(analyze.Throughput(), a[r])/analyze.Value(analyze.Throughput(), b[r])))
		}
		_, variance, n := moments(logs)
		return result{interval{e.Low, e.High}, studentT[rounds] * math.Sqrt(variance/n)}
	})
	for _, r := range results {
		intervals = append(intervals, r.interval)
		students = append(students, r.student)
	}
	return intervals, students
}

// studentT is the 99.5 % quantile of Student's t by the number of rounds.
var studentT = map[int]float64{2: 63.66, 3: 9.925, 5: 4.604}

func median(values []float64) float64 { return percentile(values, 0.5) }

func percentile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
