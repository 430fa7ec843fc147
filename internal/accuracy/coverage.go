package main

import (
	"fmt"
	"math"

	"plimsoll/analyze"
)

// estimates is the section on single figures: how often the interval holds the true value.
func estimates(s study) (string, error) {
	t := newTable("plan", "correlation", "99 % interval holds the true throughput", "half width, median", "mean ± 2.58·σ/√n holds it", "mean ± 2.58·σ/√ESS holds it", "effective seconds: median", "true")
	for _, p := range []struct {
		plan
		trials int
	}{{plan{1, 60}, 600}, {plan{1, 300}, 300}, {plan{1, 1200}, 100}, {plan{5, 60}, 300}} {
		for _, correlation := range []float64{0, 0.3, 0.6, 0.8, 0.95} {
			t.row(estimateRow(s, p.plan, correlation, s.trials(p.trials))...)
		}
	}
	return `The throughput of one cell, whose true mean is known, in a world where only its level varies (4 % from second to second).
Beside it what the same seconds give with the usual formula for independent seconds, and with the effective sample size
(ESS) put into that formula. The effective seconds that the tool shows are beside what they truly are, n·(1−ρ)/(1+ρ).

` + t.String() + `
A single round says nothing of how the next one would differ: here there is nothing between rounds, and the interval is
right; on a real database the interval of one round speaks of that round. At a correlation of 0.95 a minute holds one and a
half independent seconds, and nothing that looks at this minute alone can know how wrong it is.
`, nil
}

// meanThroughput is the true one: throughput goes with the root of the level, whose log is normal.
func meanThroughput(w service) float64 { return perSecond * math.Exp(w.noise*w.noise/8) }

func estimateRow(s study, p plan, correlation float64, trials int) []string {
	type result struct {
		interval
		naive, effective bool
		seconds          float64
	}
	w := countedService(correlation)
	truth := meanThroughput(w)
	results := repeat(s, fmt.Sprint("estimate", p, correlation), trials, func(src *source) result {
		rounds := src.rounds(w, p.rounds, p.seconds, 1)
		e := analyze.EstimateOf(analyze.Quantity{Rounds: rounds, Statistic: analyze.Throughput()}, analyze.Options{})
		var rates []float64
		for _, seconds := range rounds {
			for _, second := range seconds {
				rates = append(rates, float64(second.Done))
			}
		}
		mean, variance, n := moments(rates)
		off := math.Abs(mean - truth)
		return result{interval{e.Low, e.High}, off < 2.576*math.Sqrt(variance/n), off < 2.576*math.Sqrt(variance/e.Effective), e.Effective}
	})
	var halves, seconds []float64
	for _, r := range results {
		halves = append(halves, r.half())
		seconds = append(seconds, r.seconds)
	}
	return []string{
		p.String(), fmt.Sprint(correlation),
		count(results, func(r result) bool { return r.covers(truth) }).String(),
		percent(median(halves)),
		percent(count(results, func(r result) bool { return r.naive }).share()),
		percent(count(results, func(r result) bool { return r.effective }).share()),
		fmt.Sprintf("%.0f", median(seconds)),
		fmt.Sprintf("%.0f", float64(p.rounds*p.seconds)*(1-correlation)/(1+correlation)),
	}
}
