package analyze

import "math"

// slope is that of a straight line through a series, with its interval.
type slope struct{ perSecond, half float64 }

// evident is a slope that chance does not explain and that is steeper than allowed.
func (s slope) evident(allowed float64) bool { return math.Abs(s.perSecond) > max(s.half, allowed) }

// near reports whether the slope could well be another: of a few correlated seconds the interval comes out too narrow, so
// that it may lie somewhat outside.
func (s slope) near(other slope) bool { return math.Abs(other.perSecond-s.perSecond) <= 1.5*s.half }

// slopeOf fits a line by least squares, to three values or more. Its error is that of independent values, widened by the
// correlation time of what is left around the line.
func slopeOf(values []float64, confidence float64) slope {
	n := float64(len(values))
	m := mean(values)
	var products, squares float64
	for i, x := range values {
		at := float64(i) - (n-1)/2
		products += at * (x - m)
		squares += at * at
	}
	s := slope{perSecond: products / squares}
	left := make([]float64, len(values))
	var sum float64
	for i, x := range values {
		left[i] = x - m - s.perSecond*(float64(i)-(n-1)/2)
		sum += left[i] * left[i]
	}
	// A line through a short series takes some of the correlation with it (Shaman and Stine 1988).
	phi := lagOne(left)
	phi = min(phi+(2+4*phi)/n, 0.95)
	tau := (1 + phi) / (1 - phi)
	s.half = math.Sqrt(sum/(n-2)*tau/squares) * student(n/tau-2).Quantile((1+confidence)/2)
	return s
}

// jump is how far the latest values lie apart from those before them.
type jump struct {
	seconds int
	size    float64
	errors  float64 // size in standard errors
}

// evident is a jump that chance does not explain, many lengths having been tried, and that is more than a trifle.
func (j jump) evident() bool { return j.errors > 4 && math.Abs(j.size) > 0.02 }

// latestJump finds how many of the latest values lie furthest apart from the rest.
func latestJump(values []float64) jump {
	var found jump
	for k := 1; k <= len(values)/2; k = k*3/2 + 1 {
		before, latest := values[:len(values)-k], values[len(values)-k:]
		noise := NoiseOf(before)
		size := mean(latest) - mean(before)
		err := math.Hypot(noise.ofMean(k), noise.ofMean(len(before)))
		if errors := math.Abs(size) / max(err, 1e-9); errors > found.errors {
			found = jump{seconds: k, size: size, errors: errors}
		}
	}
	return found
}
