package main

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/analyze"
)

// comparison is what became of one simulated trial that asks whether b is no slower than a.
type comparison struct {
	p99, throughput analyze.Answer // of two cells that are alike
	slower          analyze.Answer // p99, of a b that takes 10 % longer
	welch, paired   bool           // what the usual tests say of the two that are alike
	pairedSlower    bool
}

// plan is the shape of a trial.
type plan struct{ rounds, seconds int }

func (p plan) String() string { return fmt.Sprintf("%d × %d s", p.rounds, p.seconds) }

// compare simulates trials of a plan in a world. The cells take turns, as they do in a trial.
func compare(s study, w service, p plan, trials int) []comparison {
	return repeat(s, fmt.Sprint(w, p), trials, func(src *source) comparison {
		a, b, slow := src.rounds(w, p.rounds, p.seconds, 1), src.rounds(w, p.rounds, p.seconds, 1), src.rounds(w, p.rounds, p.seconds, 1.1)
		c := comparison{
			p99:        ask(p99, b, "<=", a),
			throughput: ask(analyze.Throughput(), b, ">=", a),
			slower:     ask(p99, slow, "<=", a),
			welch:      welch(a, b),
		}
		if p.rounds > 1 {
			c.paired, c.pairedSlower = pairedT(a, b), pairedT(a, slow)
		}
		return c
	})
}

var p99 = analyze.Percentile(0.99, analyze.Response)

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
}{{plan{1, 60}, 300}, {plan{1, 300}, 120}, {plan{3, 60}, 150}, {plan{5, 60}, 400}}

// kinds are the worlds in which plans are compared, at several correlations.
var kinds = []struct {
	title        string
	service      service
	correlations []float64
}{
	{
		`**Times drawn one by one.** The level varies by 8 % from second to second. The 1,000 operations of a second add noise of their own, so that
its p99 varies by about 15 % and shows less correlation than the level that drives it: a slow wave under fast noise, which is
the harder thing to see.`,
		service{noise: 0.08, times: drawn}, []float64{0, 0.3, 0.6, 0.8, 0.95},
	},
	{
		`**Percentiles that follow the level.** The level varies by 10 %, and the p99 of each second does just that, with just that
correlation.`,
		service{noise: 0.10, times: even}, []float64{0.6, 0.8, 0.95},
	},
}

// comparisons is the section on trials that compare two cells.
func comparisons(s study) (string, error) {
	var tables strings.Builder
	var wrong, asked, found, missed int // of five rounds; up to a correlation of 0.8, and at 0.6
	for _, kind := range kinds {
		t := newTable("plan", "correlation of the level", "of p99", "false FAIL, p99", "false PASS, p99", "false FAIL, throughput", "power",
			"t-test on seconds: false FAIL", "t-test on rounds: false FAIL", "its power")
		for _, p := range plans {
			for _, correlation := range kind.correlations {
				w := kind.service
				w.correlation = correlation
				trials := compare(s, w, p.plan, s.trials(p.trials))
				t.row(comparisonRow(s, w, p.plan, trials)...)
				if p.rounds == 5 && correlation <= 0.8 {
					wrong += count(trials, func(c comparison) bool { return c.p99 == analyze.Fail }).hits
					wrong += count(trials, func(c comparison) bool { return c.throughput == analyze.Fail }).hits
					asked += 2 * len(trials)
				}
				if p.rounds == 5 && correlation == 0.6 {
					found += count(trials, func(c comparison) bool { return c.slower == analyze.Fail }).hits
					missed += count(trials, func(c comparison) bool { return c.slower != analyze.Fail }).hits
				}
			}
		}
		fmt.Fprintf(&tables, "\n%s\n\n%s", kind.title, t)
	}
	return fmt.Sprintf(`Two cells, *a* and *b*, are measured in turns. The trial expects that *b* is no slower than *a*. Where they are alike, every FAIL
is false: nominally one trial in 200, one side of a 99 %% interval; at most one in 100 is the goal. Where everything in *b* takes 10 %%
longer, FAIL is right, and its share is the power.

In five rounds of 60 s and up to a correlation of 0.8, all worlds together:

- false FAIL: **%v**; goal: at most 1 %%
- power to see a p99 that is 10 %% longer, at a correlation of 0.6: **%v**; goal: at least 90 %%

Beside it stand the usual tests, at the same level, on the same seconds: Welch's t-test on the logs of each second's p99, which takes
seconds for independent, and Student's paired t-test on the rounds, which trusts nothing else.
%s
Rounds are alike here but for their seconds; the next section is about rounds that are not.

%s`, proportion{wrong, asked}, proportion{found, found + missed}, &tables, detectable(s)), nil
}

func comparisonRow(s study, w service, p plan, trials []comparison) []string {
	is := func(pick func(comparison) analyze.Answer, answer analyze.Answer) string {
		return count(trials, func(c comparison) bool { return pick(c) == answer }).String()
	}
	ofP99 := func(c comparison) analyze.Answer { return c.p99 }
	correlation, _ := lagOne(newSource(s.seed, 0).rounds(w, 20, 300, 1))
	row := []string{
		p.String(), fmt.Sprint(w.correlation), fmt.Sprintf("%.2f", correlation),
		is(ofP99, analyze.Fail), is(ofP99, analyze.Pass),
		is(func(c comparison) analyze.Answer { return c.throughput }, analyze.Fail),
		is(func(c comparison) analyze.Answer { return c.slower }, analyze.Fail),
		percent(count(trials, func(c comparison) bool { return c.welch }).share()), "", "",
	}
	if p.rounds > 1 {
		row[8] = percent(count(trials, func(c comparison) bool { return c.paired }).share())
		row[9] = percent(count(trials, func(c comparison) bool { return c.pairedSlower }).share())
	}
	return row
}

// detectable tells how large an effect must be to be seen. In a trial of two cells that are alike, an effect of just the
// interval's distance from its lower end would have been enough; nine trials in ten see one that is larger than nine in
// ten of these.
func detectable(s study) string {
	t := newTable("level varies by", "p99 of a second varies by", "rounds of 60 s", "p99 must be longer by", "throughput lower by")
	for _, noise := range []float64{0.04, 0.08, 0.16} {
		w := service{correlation: 0.6, noise: noise, times: drawn}
		_, varies := lagOne(newSource(s.seed, 0).rounds(w, 20, 300, 1))
		for _, rounds := range []int{1, 3, 5, 10} {
			type needed struct{ p99, throughput float64 }
			trials := repeat(s, fmt.Sprint("detectable", w, rounds), s.trials(50), func(src *source) needed {
				a, b := src.rounds(w, rounds, 60, 1), src.rounds(w, rounds, 60, 1)
				ratio := func(metric analyze.Statistic) analyze.Estimate {
					return analyze.RatioOf(analyze.Quantity{Rounds: b, Statistic: metric}, analyze.Quantity{Rounds: a, Statistic: metric}, analyze.Options{})
				}
				return needed{-math.Log(ratio(p99).Low), math.Log(ratio(analyze.Throughput()).High)}
			})
			var longer, lower []float64
			for _, n := range trials {
				longer, lower = append(longer, n.p99), append(lower, n.throughput)
			}
			t.row(percent(noise), percent(varies), fmt.Sprint(rounds),
				percent(math.Expm1(percentile(longer, 0.9))), percent(-math.Expm1(-percentile(lower, 0.9))))
		}
	}
	return `**What can be seen** depends on the noise: the effect that nine trials in ten find, with times drawn one by one and a correlation of 0.6.
(One round knows nothing of how rounds differ, and only therefore needs less than three.)

` + t.String()
}
