package main

import (
	"fmt"
	"strings"

	"plimsoll/analyze"
)

// comparison is what became of one simulated trial that asked whether b is no slower than a.
type comparison struct {
	p99, throughput analyze.Answer // of two cells that are alike
	shifted         analyze.Answer // p99, of a b that is 10 % slower
	welch, paired   bool           // what the usual tests say of the two that are alike
	pairedShifted   bool
}

// plan is the shape of a trial.
type plan struct{ rounds, seconds int }

func (p plan) String() string { return fmt.Sprintf("%d × %d s", p.rounds, p.seconds) }

// compare simulates trials of a plan in a world. The cells take turns, as they do in a trial; the third is slower.
func compare(s study, w world, p plan, trials int) []comparison {
	return repeat(s, fmt.Sprint(w, p), trials, func(src *source) comparison {
		a, b, slow := src.rounds(w, p.rounds, p.seconds, 1), src.rounds(w, p.rounds, p.seconds, 1), src.rounds(w, p.rounds, p.seconds, 1.1)
		p99 := analyze.Percentile(0.99, analyze.Response)
		c := comparison{
			p99:        ask(p99, b, "<=", a),
			throughput: ask(analyze.Throughput(), b, ">=", a),
			shifted:    ask(p99, slow, "<=", a),
			welch:      welch(a, b),
		}
		if p.rounds > 1 {
			c.paired, c.pairedShifted = pairedT(a, b), pairedT(a, slow)
		}
		return c
	})
}

// ask judges a claim that a metric of b is at most, or at least, that of a.
func ask(metric analyze.Statistic, b [][]analyze.Second, op string, a [][]analyze.Second) analyze.Answer {
	return analyze.Judge([]analyze.Claim{claim(metric, b, op, a)}, analyze.Options{})[0].Verdict
}

func claim(metric analyze.Statistic, b [][]analyze.Second, op string, a [][]analyze.Second) analyze.Claim {
	return analyze.Claim{
		Text:       "b " + op + " a",
		Quantities: []analyze.Quantity{{Name: "b", Rounds: b, Statistic: metric}, {Name: "a", Rounds: a, Statistic: metric}},
		Estimate:   func(v []float64) float64 { return v[0] / v[1] },
		Ratio:      true,
		Op:         op,
		Margin:     1,
	}
}

// The plans that are compared, with how many trials of each are simulated in a world.
var plans = []struct {
	plan
	trials int
}{{plan{1, 60}, 400}, {plan{1, 300}, 250}, {plan{3, 60}, 300}, {plan{5, 60}, 500}}

// The worlds in which trials are compared. In the first the operations' own times add noise to each second's p99 that is
// not correlated; in the second its correlation is that of the level.
func drawnWorld(correlation float64) world {
	return world{correlation: correlation, noise: 0.08, times: drawn}
}

func evenWorld(correlation float64) world {
	return world{correlation: correlation, noise: 0.10, times: even}
}

// comparisons is the section on trials that compare two cells.
func comparisons(s study) (string, error) {
	var out strings.Builder
	out.WriteString(`Two cells, *a* and *b*, are measured in turns; the trial expects that *b* is no slower than *a*. Where they are alike, every
FAIL is false: nominally one trial in 200 (one side of a 99 % interval), and at most one in 100 is the goal. Where everything in
*b* takes 10 % longer, FAIL is right: its share is the power. In brackets: the exact 95 % interval of the share, from the
number of simulated trials.

`)
	for _, kind := range []struct {
		title        string
		world        func(correlation float64) world
		correlations []float64
	}{
		{"**Times drawn one by one.** The log level varies by 8 % from second to second, and 1,000 operations a second add their own noise, so that a second's p99 varies by about 15 %, and its neighbours are less correlated than the levels that drive it: a slow wave under fast noise, which is hard to see.", drawnWorld, []float64{0, 0.3, 0.6, 0.8, 0.95}},
		{"**Percentiles that follow the level exactly.** The level varies by 10 %; a second's p99 does just that, with just that correlation.", evenWorld, []float64{0.6, 0.8, 0.95}},
	} {
		fmt.Fprintf(&out, "%s\n\n", kind.title)
		t := newTable("plan", "correlation of levels", "of p99", "false FAIL, p99", "false PASS, p99", "false FAIL, throughput", "power, +10 % p99", "t-test on seconds: false FAIL", "t-test on rounds: false FAIL", "t-test on rounds: power")
		for _, p := range plans {
			for _, correlation := range kind.correlations {
				w := kind.world(correlation)
				t.row(comparisonRow(s, w, p.plan, compare(s, w, p.plan, s.trials(p.trials)))...)
			}
		}
		fmt.Fprintf(&out, "%s\n", t)
	}
	return out.String(), nil
}

func comparisonRow(s study, w world, p plan, trials []comparison) []string {
	is := func(pick func(comparison) analyze.Answer, answer analyze.Answer) string {
		return count(trials, func(c comparison) bool { return pick(c) == answer }).String()
	}
	p99 := func(c comparison) analyze.Answer { return c.p99 }
	correlation, _ := lagOne(newSource(s.seed, 0).rounds(w, 20, 300, 1))
	row := []string{
		p.String(), fmt.Sprint(w.correlation), fmt.Sprintf("%.2f", correlation),
		is(p99, analyze.Fail), is(p99, analyze.Pass),
		is(func(c comparison) analyze.Answer { return c.throughput }, analyze.Fail),
		is(func(c comparison) analyze.Answer { return c.shifted }, analyze.Fail),
		percent(count(trials, func(c comparison) bool { return c.welch }).share()),
		"", "",
	}
	if p.rounds > 1 {
		row[8] = percent(count(trials, func(c comparison) bool { return c.paired }).share())
		row[9] = percent(count(trials, func(c comparison) bool { return c.pairedShifted }).share())
	}
	return row
}
