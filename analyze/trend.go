package analyze

import "math"

// trend is a straight line through a series, with the noise around it.
type trend struct {
	slope     float64 // per value
	residuals []float64
	variance  float64 // of the residuals
	tau       float64 // their correlation time
}

func newTrend(values []float64) trend {
	n := float64(len(values))
	m := mean(values)
	var products, squares float64
	for i, x := range values {
		d := float64(i) - (n-1)/2
		products += d * (x - m)
		squares += d * d
	}
	t := trend{slope: products / squares, residuals: make([]float64, len(values))}
	var sum float64
	for i, x := range values {
		t.residuals[i] = x - m - t.slope*(float64(i)-(n-1)/2)
		sum += t.residuals[i] * t.residuals[i]
	}
	t.variance = sum / (n - 2)
	// A line through a short series takes some of the correlation with it (Kendall 1954; the term for a trend is
	// that of Andrews 1993).
	phi := lagOne(t.residuals)
	phi = min(phi+(2+4*phi)/n, 0.95)
	t.tau = (1 + phi) / (1 - phi)
	return t
}

// half is half the width of the slope's interval.
func (t trend) half(alpha float64) float64 {
	n := float64(len(t.residuals))
	err := math.Sqrt(t.variance * t.tau * 12 / (n * n * n))
	return err * student(n/t.tau-2).Quantile(1-alpha/2)
}

// jump is how far the latest values lie apart from those before them.
type jump struct {
	seconds int
	size    float64
	errors  float64 // size in standard errors
}

// evident is a jump that chance does not explain, many lengths having been tried, and that is more than a trifle.
func (j jump) evident() bool { return j.errors > 5 && math.Abs(j.size) > 0.02 }

// latestJump finds how many of the latest values lie furthest apart from the rest.
func latestJump(values []float64) jump {
	var found jump
	for k := 1; k <= len(values)/2; k = k*3/2 + 1 {
		before, latest := values[:len(values)-k], values[len(values)-k:]
		noise := NoiseOf(before)
		size := mean(latest) - mean(before)
		err := math.Hypot(noise.ofMean(k), noise.ofMean(len(before)))
		if errors := math.Abs(size) / err; err > 0 && errors > found.errors {
			found = jump{seconds: k, size: size, errors: errors}
		}
	}
	return found
}
