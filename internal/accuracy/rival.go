package main

import (
	"math"

	"plimsoll/analyze"
	"plimsoll/series"
)

// The usual ways to compare two runs, to see what they are worth on the same seconds. Each says that b is slower than a when
// it finds that at a two-sided level of 1 %.

// welch is the t-test of Welch (1947) on the logs of each second's p99, all rounds together, as if seconds were
// independent. There are hundreds of them, so that t is as good as normal.
func welch(a, b [][]analyze.Second) bool {
	meanA, varianceA, nA := moments(secondlyP99(a))
	meanB, varianceB, nB := moments(secondlyP99(b))
	return meanB-meanA > 2.576*math.Sqrt(varianceA/nA+varianceB/nB)
}

func secondlyP99(rounds [][]analyze.Second) []float64 {
	var out []float64
	for _, seconds := range rounds {
		for _, s := range seconds {
			out = append(out, math.Log(float64(s.Response.Quantile(0.99))))
		}
	}
	return out
}

// pairedT is Student's t-test on the differences of the rounds' log p99, which trusts nothing but the rounds.
func pairedT(a, b [][]analyze.Second) bool {
	var differences []float64
	for r := range a {
		differences = append(differences, math.Log(roundP99(b[r])/roundP99(a[r])))
	}
	mean, variance, n := moments(differences)
	return mean > studentT[len(a)]*math.Sqrt(variance/n)
}

func roundP99(seconds []analyze.Second) float64 {
	times := make([]series.Snapshot, len(seconds))
	for i, s := range seconds {
		times[i] = s.Response
	}
	return float64(series.Merge(times...).Quantile(0.99))
}

func moments(values []float64) (mean, variance, n float64) {
	n = float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	for _, x := range values {
		variance += (x - mean) * (x - mean) / (n - 1)
	}
	return mean, variance, n
}

// lagOne is the correlation of neighbours in the logs of each second's p99, and how much these vary.
func lagOne(rounds [][]analyze.Second) (correlation, deviation float64) {
	var products, squares, n float64
	for _, seconds := range rounds {
		logs := secondlyP99([][]analyze.Second{seconds})
		mean, _, _ := moments(logs)
		for i, x := range logs {
			squares += (x - mean) * (x - mean)
			n++
			if i > 0 {
				products += (x - mean) * (logs[i-1] - mean)
			}
		}
	}
	return products / squares, math.Sqrt(squares / n)
}
