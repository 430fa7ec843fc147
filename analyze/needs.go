package analyze

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A trial that would have to be more than this many times as long is not worth its time.
const hopeless = 20

// needs says in words how much more measuring would decide the claim, if the estimate stays where it is and the interval
// shrinks as its law says.
func (c Claim) needs(e effect, alpha float64) string {
	if c.Op == "==" && e.value == c.Margin {
		return "an estimate can come close to a number but never prove to be equal: ask for a range"
	}
	decides := func(more float64) bool {
		return c.verdict(e.interval(alpha, more)) != Inconclusive
	}
	if e.spread.rounds > 1 {
		return roundsNeeded(e.spread.rounds, decides)
	}
	return timeNeeded(e.seconds, decides)
}

func roundsNeeded(rounds int, decides func(more float64) bool) string {
	enough := func(total int) bool { return decides(float64(total) / float64(rounds)) }
	if last := hopeless * rounds; !enough(last) {
		return fmt.Sprintf("more than %d more rounds would be needed; the effect is at the margin", last-rounds)
	}
	low, high := rounds, hopeless*rounds
	for high-low > 1 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if high-rounds == 1 {
		return "about 1 more round"
	}
	return fmt.Sprintf("about %d more rounds", high-rounds)
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
		return "rounds in which all its metrics were measured: there is none"
	}
	return "operations to measure: there were none for " + strings.Join(names, " and ")
}
