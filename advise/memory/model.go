package memory

import "math"

// model is the second opinion: pages are asked for independently, the popular ones by Zipf's law, and the cache drops what was used
// longest ago (Che's approximation). It is fitted to what the lists say close to today's size, where they say it best,
// and knows nothing of single pages.
type model struct {
	skew  float64
	pages float64 // of data, in caches
	now   float64 // reads at today's size, unscaled
}

// fitModel finds the skew with which the model agrees best from 0.75 to 1.25 times the cache.
func fitModel(now shape, held, dataPages float64) model {
	pages := dataPages / held
	if pages < 1.05 {
		pages = 8 // not known, or no more than fits: something larger, which an error of the fit makes up for
	}
	near := []float64{0.75, 0.875, 1.125, 1.25}
	best, least := model{}, math.Inf(1)
	for skew := 0.0; skew < 2.01; skew += 0.05 {
		m := model{skew: skew, pages: pages}
		m.now = m.reads(1)
		if m.now <= 0 {
			continue
		}
		apart := 0.0
		for _, times := range near {
			if times > now.known {
				continue
			}
			d := math.Log(max(m.share(times), 1e-6)) - math.Log(max(now.share(times), 1e-6))
			apart += d * d
		}
		if apart < least {
			best, least = m, apart
		}
	}
	return best
}

// share is what part of today's reads is left at so many times the cache.
func (m model) share(times float64) float64 {
	if m.now <= 0 {
		return 1
	}
	return m.reads(times) / m.now
}

// ranks is how many groups of equally popular pages stand for all.
const ranks = 1 << 14

// reads is the share of requests that miss a cache of so many times today's.
func (m model) reads(times float64) float64 {
	if times >= m.pages {
		return 0
	}
	type group struct{ rate, pages float64 }
	var groups []group
	total := 0.0
	for r := 1.0; r <= ranks; {
		w := max(1, math.Floor(r*0.05))
		w = min(w, ranks-r+1)
		g := group{math.Pow(r+(w-1)/2, -m.skew), w}
		total += g.rate * g.pages
		groups = append(groups, g)
		r += w
	}
	room := times / m.pages * ranks
	low, high := -15.0, 35.0 // of the logarithm of the time for which a page that nobody asks for stays
	for high-low > 1e-9 {
		held, t := 0.0, math.Exp((low+high)/2)
		for _, g := range groups {
			held += g.pages * -math.Expm1(-g.rate*t)
		}
		if held < room {
			low = math.Log(t)
		} else {
			high = math.Log(t)
		}
	}
	stays := math.Exp(low)
	missed := 0.0
	for _, g := range groups {
		missed += g.pages * g.rate * math.Exp(-g.rate*stays)
	}
	return missed / total
}

// FromOneSize is what the model says if it knows nothing but how many of the requests are read from disk today: the share of them that
// is left with so many times the cache. It is there to be compared with: requests for the inner pages of an index, which are
// always cached, have to be guessed away, two of three here.
func FromOneSize(requests, reads, held, dataPages, times float64) float64 {
	want := reads / (requests / 3)
	best, least := model{}, math.Inf(1)
	for skew := 0.0; skew < 2.01; skew += 0.05 {
		m := model{skew: skew, pages: max(dataPages/held, 1.05)}
		m.now = m.reads(1)
		if d := math.Abs(m.now - want); d < least {
			best, least = m, d
		}
	}
	return best.share(times)
}
