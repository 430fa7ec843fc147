package analyze

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// spread is how uncertain an estimate is, on the scale on which it is judged.
type spread struct {
	within  float64 // standard error that the seconds explain
	freedom float64 // degrees of freedom of within
	rounds  int
	between []between // ways to see how the rounds differ; each is valid by itself
}

// between is a standard error that the rounds show. It contains what the seconds explain.
type between struct{ err, freedom float64 }

// Rounds of a database differ by more than their seconds explain: a restart lays out memory anew, a neighbour wakes up.
// With R rounds that spread is known from R−1 differences only, and Student's t for 2 or 4 degrees of freedom is so wide
// because it takes a spread of any size, a tiny one too, for possible. But the seconds say more: rounds cannot differ less
// than their seconds alone make them. So let b be how many times more they differ. Its prior density
//
//	p(b) ∝ (1 + (b/s)²)^(−3/4),  s = 2/(R−1)
//
// is flat up to about s and has a heavy tail above it (Gelman 2006, on variances of few groups). What the rounds showed
// weighs it, and the interval is taken over what remains: near what the seconds alone say when the rounds agree, near
// Student's t when they do not, and always narrower than that. Tail and scale are calibrated, not believed: they are the boldest
// simple ones for which a 99 % interval lies on the wrong side of the truth at most about once in a hundred, whatever b is.
// The test integrates that chance; docs/accuracy.md has it simulated.
const priorExponent = -0.75

func priorScale(rounds float64) float64 { return 2 / (rounds - 1) }

// half is half the width of the interval at level alpha, if there were more times as many rounds, or more times as many
// seconds in the only one. Of several ways to see the rounds' spread the one with the narrowest interval counts, each
// asked at its share of the level (Bonferroni).
func (s spread) half(alpha, more float64) float64 {
	kernel := student(s.freedom * more)
	within := s.within / math.Sqrt(more)
	if s.rounds == 1 || math.IsInf(within, 0) {
		return within * kernel.Quantile(1-alpha/2)
	}
	narrowest := math.Inf(1)
	rounds := float64(s.rounds)
	for _, way := range s.between {
		p := 1 - alpha/float64(2*len(s.between))
		err, freedom := way.err/math.Sqrt(more), way.freedom*(rounds*more-1)/(rounds-1)
		var half float64
		switch {
		case math.IsInf(err, 0):
			half = err
		case within <= 1e-9*err:
			half = err * student(freedom).Quantile(p)
		case within > 0:
			half = within * newExcess(err/within, freedom, priorScale(rounds*more)).quantile(kernel, p)
		}
		narrowest = min(narrowest, half)
	}
	return narrowest
}

func student(freedom float64) distuv.StudentsT {
	return distuv.StudentsT{Sigma: 1, Nu: max(freedom, 1)}
}

// excess is what is believed of b, as points and weights.
type excess struct{ scale, weight [excessPoints]float64 }

const excessPoints = 96

// newExcess weighs b after rounds spread ratio times as much as their seconds explain, known with some degrees of freedom:
// the likelihood of the observed variance is that of a scaled χ².
func newExcess(ratio, freedom, scale float64) excess {
	var e excess
	var total float64
	for i := range excessPoints {
		// Points are dense around the size that was seen and reach thousands of times beyond.
		x := (float64(i) + 0.5) / excessPoints
		angle := math.Pi / 2 * (1 - (1-x)*(1-x))
		b := max(1, ratio) * math.Tan(angle)
		cos := math.Cos(angle)
		step := max(1, ratio) * (1 - x) / (cos * cos)

		variance := 1 + b*b
		prior := math.Pow(1+(b/scale)*(b/scale), priorExponent)
		likelihood := math.Exp(-freedom / 2 * (math.Log(variance) + ratio*ratio/variance - 1 - 2*math.Log(max(1, ratio))))
		e.scale[i] = math.Sqrt(variance)
		e.weight[i] = prior * likelihood * step
		total += e.weight[i]
	}
	for i := range e.weight {
		e.weight[i] /= total
	}
	return e
}

// quantile of the mixture of kernels, each as wide as its point says.
func (e excess) quantile(kernel distuv.StudentsT, p float64) float64 {
	beyond := func(x float64) float64 {
		var tail float64
		for i, w := range e.weight {
			if w > 1e-12 {
				tail += w * kernel.Survival(x/e.scale[i])
			}
		}
		return tail
	}
	low, high := 0.0, kernel.Quantile(p)
	for beyond(high) > 1-p {
		low, high = high, 2*high
	}
	for high-low > 1e-4*high {
		if middle := (low + high) / 2; beyond(middle) > 1-p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
