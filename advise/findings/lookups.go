package findings

import (
	"math"
	"math/rand/v2"
)

// lookups is a stream of requests for rows by a key: how often each key is asked for, as a share of all, the popular ones by Zipf's law.
// Requests are independent, and caches drop what was used longest ago (Che's approximation: whatever is asked for again within a time that is
// the same for all is still there).
type lookups []float64

// mostKeys stand for all of a table: of a larger one every so many, with caches so much smaller.
const mostKeys = 50_000

// newLookups are those of a table of so many rows; scale is by how much caches of it are to be made smaller.
func newLookups(rows, skew float64) (l lookups, scale float64) {
	n := int(min(max(rows, 1), mostKeys))
	l = make(lookups, n)
	sum := 0.0
	for i := range l {
		l[i] = math.Pow(float64(i+1), -skew)
		sum += l[i]
	}
	for i := range l {
		l[i] /= sum
	}
	return l, float64(n) / max(rows, 1)
}

// stays is the time, in requests, for which a cache of so many entries keeps what nobody asks for; +Inf where it keeps all.
func (l lookups) stays(entries float64) float64 {
	if entries >= float64(len(l)) {
		return math.Inf(1)
	}
	low, high := 0.0, 60.0 // of the logarithm
	for high-low > 1e-6 {
		held, t := 0.0, math.Exp((low+high)/2)
		for _, rate := range l {
			held -= math.Expm1(-rate * t)
		}
		if held < entries {
			low = (low + high) / 2
		} else {
			high = (low + high) / 2
		}
	}
	return math.Exp(low)
}

// behind are the requests that a cache of so many entries lets through, and the share that it answers.
func (l lookups) behind(entries float64) (left through, answered float64) {
	left = through{l, make([]float64, len(l)), l.stays(entries)}
	answered = 1
	for i, rate := range l {
		if !math.IsInf(left.gap, 1) {
			left.rates[i] = rate * math.Exp(-rate*left.gap)
		}
		answered -= left.rates[i]
	}
	return left, answered
}

// missed are the reads without a cache; see through.missed.
func (l lookups) missed(perPage, pool float64) float64 { return through{l, l, 0}.missed(perPage, pool) }

// through are the requests that a cache lets through: of one key never two within the gap, since it keeps what was asked for last. So what it
// answers is what a pool of pages behind it would mostly have had too.
type through struct {
	keys  lookups
	rates []float64
	gap   float64
}

// missed are the reads, for each request of the whole stream, of pages of so many rows each that a pool of so many pages does not hold.
// Which rows share a page is drawn, always alike.
func (s through) missed(perPage, pool float64) float64 {
	n := max(int(float64(len(s.rates))/max(perPage, 1)), 1)
	if pool >= float64(n) || math.IsInf(s.gap, 1) {
		return 0
	}
	place := make([]int, len(s.rates))
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a model, not a secret
	for at, key := range r.Perm(len(s.rates)) {
		place[key] = at % n
	}
	// absent is the logarithm of the chance that nothing of a page was let through for so long.
	absent := make([]float64, n)
	after := func(t float64) {
		clear(absent)
		for key, rate := range s.rates {
			absent[place[key]] += s.none(rate, t)
		}
	}
	low, high := 0.0, 60.0
	for high-low > 1e-6 {
		t, held := math.Exp((low+high)/2), 0.0
		after(t)
		for _, a := range absent {
			held -= math.Expm1(a)
		}
		if held < max(pool, 0.5) {
			low = (low + high) / 2
		} else {
			high = (low + high) / 2
		}
	}
	t, missed := math.Exp(low), 0.0
	after(t)
	for key, rate := range s.rates {
		own := -rate * max(t-s.gap, 0) // it is let through now, and so was not for the gap before
		missed += rate * math.Exp(absent[place[key]]-s.none(rate, t)+own)
	}
	return missed
}

// none is the logarithm of the chance that a key is not let through for so long: within the gap it is at most once.
func (s through) none(rate, t float64) float64 {
	once := min(rate*min(t, s.gap), 1-1e-12)
	return math.Log1p(-once) - rate*max(t-s.gap, 0)
}
