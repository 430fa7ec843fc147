package main

import (
	"fmt"
	"math"
)

// proportion is how many of a number of trials did something.
type proportion struct{ hits, of int }

func (p proportion) share() float64 { return float64(p.hits) / float64(p.of) }

func (p *proportion) note(hit bool) {
	p.of++
	if hit {
		p.hits++
	}
}

// String writes the share as a percentage with its uncertainty: the exact 95 % interval of a binomial share.
func (p proportion) String() string {
	low, high := p.interval()
	return fmt.Sprintf("%s (%s–%s)", percent(p.share()), digits(low*100), digits(high*100))
}

func percent(share float64) string { return digits(share*100) + " %" }

func digits(x float64) string {
	switch {
	case x == 0 || x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// interval is Clopper's and Pearson's (1934) at 95 %.
func (p proportion) interval() (low, high float64) {
	low = root(func(q float64) bool { return 1-binomial(p.hits-1, p.of, q) > 0.025 })
	high = root(func(q float64) bool { return binomial(p.hits, p.of, q) < 0.025 })
	if p.hits == 0 {
		low = 0
	}
	if p.hits == p.of {
		high = 1
	}
	return low, high
}

// atMost reports whether the trials are compatible with a true share of at most q: fewer than one in 1,000 such studies
// would see so many.
func (p proportion) atMost(q float64) bool { return 1-binomial(p.hits-1, p.of, q) >= 0.001 }

// atLeast reports whether they are compatible with a true share of at least q.
func (p proportion) atLeast(q float64) bool { return binomial(p.hits, p.of, q) >= 0.001 }

// binomial is the chance of at most k hits in n trials of probability q.
func binomial(k, n int, q float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n || q <= 0:
		return 1
	case q >= 1:
		return 0
	}
	var sum float64
	for i := range k + 1 {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(q) + float64(n-i)*math.Log1p(-q))
	}
	return min(sum, 1)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// root is where a condition that holds for large shares begins to hold.
func root(holds func(float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
