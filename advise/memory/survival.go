package memory

// survival is how likely a page that is read now would still be read by a cache that is larger by so many bins: the
// product-limit estimate (Kaplan and Meier 1958). A page that was not known to have left is only known to lie deeper than all
// that had left by then; it counts as long as that tells something. known is the first bin of which too little is known.
func survival(back, fresh []float64) (s []float64, known int) {
	atRisk := 0.0
	for i := range back {
		atRisk += back[i] + fresh[i]
	}
	all := atRisk
	s = make([]float64, len(back)+1)
	s[0] = 1
	known = len(back)
	for i := range back {
		if known == len(back) && (atRisk < enough || atRisk < leastShare*all) {
			known = i
		}
		s[i+1] = s[i]
		// Those that drop out of sight within the bin have seen half of it.
		if under := atRisk - fresh[i]/2; under > 0 {
			s[i+1] = s[i] * max(1-back[i]/under, 0)
		}
		atRisk -= back[i] + fresh[i]
	}
	return s, known
}

const (
	enough     = 30   // pages that are still followed, at least
	leastShare = 0.01 // of all that were read
)
