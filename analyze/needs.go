package analyze

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// A trial that would have to be more than this many times as long is not worth its time.
const hopeless = 20

// needs says in words how much more measuring would decide the claim, if the estimate stays where it is and the interval
// shrinks as its law says.
func (c Claim) needs(e effect, alpha float64) string {
	if c.Op == "==" && e.value == c.Margin {
		return "an estimate can never prove to be equal to a number: expect a range instead"
	}
	decides := func(more float64) bool {
		return c.verdict(e.interval(alpha, more)) != Inconclusive
	}
	if e.spread.rounds > 1 {
		return roundsNeeded(e.spread.rounds, func(rounds int, unlucky float64) bool {
			low, high := e.imagine(unlucky).interval(alpha, float64(rounds)/float64(e.spread.rounds))
			return c.verdict(low, high) != Inconclusive
		})
	}
	return timeNeeded(e.seconds, decides)
}

// luck is how likely the rounds are to differ as little, or as much, as a range of rounds needed takes them to: a tenth each.
const luck = 0.1

// imagine is an effect whose rounds really differ by as much as what was seen of them leaves likely: by less than that with a
// chance of unlucky. How much rounds differ is known from as many differences as there are degrees of freedom, that is to say badly.
func (e effect) imagine(unlucky float64) effect {
	ways := slices.Clone(e.spread.between)
	for i := range ways {
		ways[i].err *= math.Sqrt(ways[i].freedom / distuv.ChiSquared{K: ways[i].freedom}.Quantile(1-unlucky))
	}
	e.spread.between = ways
	return e
}

// roundsNeeded is a range: how many more would do if the rounds really differ less than those that were seen, and how many if they
// differ more.
func roundsNeeded(rounds int, enough func(rounds int, unlucky float64) bool) string {
	last := hopeless * rounds
	least := func(unlucky float64) int {
		return rounds + 1 + sort.Search(last-rounds, func(more int) bool { return enough(rounds+1+more, unlucky) })
	}
	few, many := least(luck)-rounds, least(1-luck)-rounds
	switch {
	case few > last-rounds:
		return fmt.Sprintf("more than %d more rounds would be needed; the effect is at the margin", down(last-rounds))
	case many > last-rounds || rounds < fewestToForesee:
		return fmt.Sprintf("at least %s; the number cannot be known yet, because %d rounds show too little of how much rounds differ", moreRounds(down(few)), rounds)
	}
	if few, many = down(few), up(many); few == many {
		return "about " + moreRounds(few)
	}
	return fmt.Sprintf("between %d and %s", few, moreRounds(many))
}

// down and up round a number of rounds outward to one that the few rounds behind it support: in steps of about a tenth of it.
func down(n int) int { return n / step(n) * step(n) }

func up(n int) int { return (n + step(n) - 1) / step(n) * step(n) }

func step(n int) int {
	for _, s := range []int{100, 50, 10, 5} {
		if n >= 10*s || s == 5 && n >= 10 {
			return s
		}
	}
	return 1
}

// fewestToForesee is how many rounds there must be before it is said how many will be enough.
const fewestToForesee = 3

func moreRounds(n int) string {
	if n == 1 {
		return "1 more round"
	}
	return fmt.Sprintf("%d more rounds", n)
}

func timeNeeded(seconds float64, decides func(more float64) bool) string {
	if !decides(hopeless) {
		return fmt.Sprintf("more than %s more would be needed; the effect is at the margin", inWords(seconds*(hopeless-1)))
	}
	low, high := 1.0, float64(hopeless)
	for high-low > 0.01 {
		if middle := (low + high) / 2; decides(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return fmt.Sprintf("about %s more", inWords(seconds*(high-1)))
}

// inWords rounds up to what a person would say.
func inWords(seconds float64) string {
	d := time.Duration(math.Ceil(seconds)) * time.Second
	switch {
	case d <= 90*time.Second:
		return plural(roundUp(d, 10*time.Second)/time.Second, "second")
	case d <= 90*time.Minute:
		return plural(roundUp(d, time.Minute)/time.Minute, "minute")
	}
	return plural(roundUp(d, time.Hour)/time.Hour, "hour")
}

func roundUp(d, to time.Duration) time.Duration { return (d + to - 1) / to * to }

func plural(n time.Duration, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// missing says which quantities have no value.
func (c Claim) missing() string {
	var names []string
	for _, q := range c.Quantities {
		if q.Exact != nil {
			continue
		}
		if q.Lacks != "" {
			return q.Lacks
		}
		var seconds []Second
		for _, round := range q.Rounds {
			seconds = append(seconds, round...)
		}
		if math.IsNaN(Value(q.Statistic, seconds)) {
			names = append(names, q.Name)
		}
	}
	if len(names) == 0 {
		return "rounds in which all of its metrics were measured; there was none"
	}
	return "operations to measure: there were none for " + strings.Join(names, " and ")
}
