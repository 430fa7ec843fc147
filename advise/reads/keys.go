package reads

import (
	"math"

	"plimsoll/advise"
)

// fewest executions of a statement from which anything is said about its keys.
const fewest = 30

// keys estimates how unequally often values are asked for, from how many pairs among those that were seen are equal.
//
// If values are asked for independently, value i with probability p_i, two executions ask for the same with probability Σp_i², which
// by Zipf's law over as many values as the table has rows is a rising function of the exponent. The interval is that of the number of
// equal pairs, whose variance (Hoeffding's, of a U-statistic of order two) is taken from the equal pairs and triples.
func (t *tally) keys() {
	seen, pairs, triples := 0, 0.0, 0.0
	for _, count := range t.values {
		n := float64(count)
		seen += count
		pairs += n * (n - 1) / 2
		triples += n * (n - 1) * (n - 2)
	}
	if seen < fewest || t.Shape == nil || t.Shape.Rows < 2 {
		return
	}
	all := float64(seen) * float64(seen-1) / 2
	n, p2 := float64(seen), pairs/all
	p3 := triples / (n * (n - 1) * (n - 2))
	half := 1.645 * math.Sqrt(max(pairs, 1)+n*(n-1)*(n-2)*max(p3-p2*p2, 0))
	k := &advise.Keys{Seen: seen, Distinct: len(t.values), Biased: t.ended < t.texts}
	rows := float64(t.Shape.Rows)
	k.Skew = advise.Figure{Mean: skewOf(pairs/all, rows), Low: skewOf(max(pairs-half, 0)/all, rows), High: skewOf((pairs+half+1)/all, rows)}
	t.Keys = k
}

// steepest is the largest exponent that is told.
const steepest = 2

// skewOf is the exponent of Zipf's law over n values with which two draws agree with this probability; 0 where even equal chances agree
// more often.
func skewOf(agree, n float64) float64 {
	low, high := 0.0, float64(steepest)
	for range 50 {
		s := (low + high) / 2
		if power(2*s, n)/(power(s, n)*power(s, n)) < agree {
			low = s
		} else {
			high = s
		}
	}
	if high < 1e-6 {
		return 0
	}
	return (low + high) / 2
}

// power is the sum of i^−s for i from 1 to n: the first two hundred one by one, the rest by the integral with Euler's and Maclaurin's first term.
func power(s, n float64) float64 {
	const exact = 200
	sum := 0.0
	for i := 1.0; i <= min(n, exact); i++ {
		sum += math.Pow(i, -s)
	}
	if n <= exact {
		return sum
	}
	rest := math.Log(n / exact)
	if math.Abs(s-1) > 1e-9 {
		rest = (math.Pow(n, 1-s) - math.Pow(exact, 1-s)) / (1 - s)
	}
	return sum + rest + (math.Pow(n, -s)-math.Pow(exact, -s))/2
}

// share is the interval of 90 % in which a share lies of which n of all were seen (Wilson's).
func share(n, all float64) (low, high float64) {
	const z = 1.645
	p := n / all
	middle, half := (p+z*z/(2*all))/(1+z*z/all), z/(1+z*z/all)*math.Sqrt(p*(1-p)/all+z*z/(4*all*all))
	if n == all {
		return middle - half, 1
	}
	return middle - half, middle + half
}
