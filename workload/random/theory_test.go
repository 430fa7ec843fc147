package random

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// draws is enough to see a 1 % error in the probability of what is drawn one time in 20.
const draws = 400_000

// fits fails when what d draws does not follow the probabilities of 0 to n-1 (Pearson's chi-square; a false alarm is a
// matter of one seed in 10,000, and the seeds are fixed).
func fits(t *testing.T, d Distribution, probability []float64) {
	t.Helper()
	n := int64(len(probability))
	r, seen := New(42, uint64(n)), make([]float64, n)
	for range draws {
		k := d.Draw(r, n)
		if k < 0 || k >= n {
			t.Fatalf("drew %d of %d", k, n)
		}
		seen[k]++
	}
	statistic, cells := 0.0, 0
	var expected, observed float64
	for k, p := range probability {
		expected, observed = expected+p*draws, observed+seen[k]
		if expected < 20 && k < len(probability)-1 { // too few to be near normal: taken together with the next
			continue
		}
		if expected > 0 {
			statistic += (observed - expected) * (observed - expected) / expected
			cells++
		} else if observed > 0 {
			t.Fatalf("drew what cannot be, up to %d", k)
		}
		expected, observed = 0, 0
	}
	if p := 1 - (distuv.ChiSquared{K: float64(max(cells-1, 1))}).CDF(statistic); p < 1e-4 {
		t.Errorf("chi-square %.1f over %d cells: p = %.2g", statistic, cells, p)
	}
}

// of makes probabilities of a function of the distribution: the probability to be below x, 0 to 1, of all numbers.
func of(n int, below func(x float64) float64) []float64 {
	p := make([]float64, n)
	for k := range p {
		p[k] = below(float64(k+1)/float64(n)) - below(float64(k)/float64(n))
	}
	return p
}

func zipf(n int, theta float64) []float64 {
	p, sum := make([]float64, n), 0.0
	for k := range p {
		p[k] = math.Pow(float64(k+1), -theta)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// irwinHall is the probability that the mean of so many uniform draws lies below x.
func irwinHall(rounds int, x float64) float64 {
	sum, term := 0.0, 1.0 // term: (-1)^k / (k! (rounds-k)!), times rounds!, in the end
	x *= float64(rounds)
	for k := 0; float64(k) <= x && k <= rounds; k++ {
		sum += term * math.Pow(x-float64(k), float64(rounds))
		term *= -float64(rounds-k) / float64(k+1)
	}
	return sum / math.Gamma(float64(rounds+1))
}

func special(n int, s Special) []float64 {
	p, span := make([]float64, n), float64(n-1)
	part := span * s.Part
	from, to := (1-s.Share)*(part+1)+span/2-part/2, part+1+span/2-part/2
	for k := range p {
		x := float64(k)
		p[k] = (1 - s.Share) * (irwinHall(s.Rounds, min((x+1)/span, 1)) - irwinHall(s.Rounds, min(x/span, 1)))
		p[k] += s.Share * max(min(x+1, to)-max(x, from), 0) / (to - from)
	}
	return p
}

func TestDistributionsFollowTheory(t *testing.T) {
	exponential := func(rate float64) func(x float64) float64 {
		return func(x float64) float64 { return math.Expm1(-rate*x) / math.Expm1(-rate) }
	}
	for name, c := range map[string]struct {
		d Distribution
		p []float64
	}{
		"uniform":           {Uniform{}, zipf(777, 0)},
		"sequential":        {&Sequential{}, zipf(1000, 0)},
		"zipf of 1":         {NewZipf(Theta), zipf(1, Theta)},
		"zipf of 2":         {NewZipf(Theta), zipf(2, Theta)},
		"zipf of 10":        {NewZipf(Theta), zipf(10, Theta)},
		"zipf of 1000":      {NewZipf(Theta), zipf(1000, Theta)},
		"zipf of 100000":    {NewZipf(Theta), zipf(100_000, Theta)},
		"zipf, theta 0":     {NewZipf(0), zipf(1000, 0)},
		"zipf, theta 0.5":   {NewZipf(0.5), zipf(1000, 0.5)},
		"zipf, theta 1":     {NewZipf(1), zipf(1000, 1)},
		"zipf, theta 2":     {NewZipf(2), zipf(1000, 2)},
		"hotspot":           {Hotspot{Hot: 0.2, Hits: 0.8}, of(1000, func(x float64) float64 { return min(4*x, 0.75+x/4) })},
		"hotspot, all hot":  {Hotspot{Hot: 1, Hits: 0.8}, zipf(100, 0)},
		"hotspot, one hot":  {Hotspot{Hot: 1e-9, Hits: 0.5}, append([]float64{0.5}, scaled(zipf(99, 0), 0.5)...)},
		"exponential":       {NewExponential(0.8571, 0.95), of(1000, exponential(-math.Log(0.05)/0.8571))},
		"exponential steep": {NewExponential(0.1, 0.9), of(1000, exponential(-math.Log(0.1)/0.1))},
		"gaussian":          {Gaussian{12}, of(1000, func(x float64) float64 { return irwinHall(12, x) })},
		"pareto":            {NewPareto(0.2), of(1000, func(x float64) float64 { return math.Pow(x, math.Log(0.8)/math.Log(0.2)) })},
		"special":           {Special{0.75, 0.01, 12}, special(10_000, Special{0.75, 0.01, 12})},
		"special of 3":      {Special{0.75, 0.01, 12}, special(3, Special{0.75, 0.01, 12})},
	} {
		t.Run(name, func(t *testing.T) { fits(t, c.d, c.p) })
	}
}

func scaled(p []float64, by float64) []float64 {
	out := make([]float64, len(p))
	for i := range p {
		out[i] = p[i] * by
	}
	return out
}

// The test itself must be able to fail: what YCSB's own method would draw is not a Zipf distribution.
func TestTheTestSeesAnApproximation(t *testing.T) {
	const n = 1000
	p := zipf(n, Theta)
	alpha := 1 / (1 - Theta)
	zeta2, zeta := 1+math.Pow(0.5, Theta), 1/p[0]
	eta := (1 - math.Pow(2.0/n, 1-Theta)) / (1 - zeta2/zeta)
	r, seen := New(42, n), make([]float64, n)
	for range draws {
		u := r.Float64()
		switch uz := u * zeta; {
		case uz < 1:
			seen[0]++
		case uz < zeta2:
			seen[1]++
		default:
			seen[int(n*math.Pow(eta*u-eta+1, alpha))]++
		}
	}
	statistic := 0.0
	for k := range p {
		statistic += (seen[k] - p[k]*draws) * (seen[k] - p[k]*draws) / (p[k] * draws)
	}
	if statistic < 1200 { // 999 degrees of freedom: 1,200 is one in 100,000
		t.Errorf("chi-square %.0f does not tell the approximation from the real thing", statistic)
	}
}

func TestLatestPrefersTheNewestOfAGrowingRange(t *testing.T) {
	l, r := NewLatest(Theta), New(1, 1)
	newest := 0
	for n := int64(1000); n < 11_000; n++ {
		switch k := l.Draw(r, n); {
		case k < 0 || k >= n:
			t.Fatalf("drew %d of %d", k, n)
		case k == n-1:
			newest++
		}
	}
	// 1/zeta(n) lies between 1/7.7 and 1/10.2.
	if newest < 900 || newest > 1350 {
		t.Errorf("the newest of all came %d times in 10,000", newest)
	}
	p := zipf(1000, Theta)
	for i, j := 0, len(p)-1; i < j; i, j = i+1, j-1 {
		p[i], p[j] = p[j], p[i]
	}
	fits(t, NewLatest(Theta), p)
}

// YCSB: the most popular of 10^10 items has 1/zeta(10^10) = 1/26.469 of all requests, whatever the number of keys; what is
// not so popular falls on its key too if the keys are few.
func TestScrambledIsAsSkewedAsYCSB(t *testing.T) {
	for _, n := range []int{1000, 100_000} {
		s, r, seen := NewScrambled(Theta), New(7, 7), make([]float64, n)
		for range draws {
			seen[s.Draw(r, int64(n))]++
		}
		hottest := 0
		for k := range seen {
			if seen[k] > seen[hottest] {
				hottest = k
			}
		}
		want := 1/26.469 + (1-1/26.469)/float64(n)
		if share := seen[hottest] / draws; math.Abs(share-want) > 0.001 {
			t.Errorf("of %d keys the hottest has %.4f of the requests, expected %.4f", n, share, want)
		}
		if hottest != int(Hash(0)%int64(n)) {
			t.Errorf("the hottest key is %d", hottest)
		}
	}
}

func TestScatterIsYCSBs(t *testing.T) {
	// user6284781860667377211 is the first key that YCSB loads.
	if got := Hash(0); got != 6284781860667377211 {
		t.Errorf("Hash(0) = %d", got)
	}
}

func TestWeights(t *testing.T) {
	w, r, seen := NewWeights([]float64{45, 43, 0, 8, 4}), New(3, 3), [5]float64{}
	for range draws {
		seen[w.Draw(r)]++
	}
	for i, want := range []float64{0.45, 0.43, 0, 0.08, 0.04} {
		if sd := math.Sqrt(want * (1 - want) / draws); math.Abs(seen[i]/draws-want) > 4*sd {
			t.Errorf("index %d: %.4f, expected %.4f", i, seen[i]/draws, want)
		}
	}
}

func TestSameSeedSameNumbers(t *testing.T) {
	a, b, other, stream := New(1, 2), New(1, 2), New(2, 2), New(1, 3)
	same := [2]int{}
	for range 1000 {
		x := a.Uint64()
		if x != b.Uint64() {
			t.Fatal("the same seed and stream gave other numbers")
		}
		if x == other.Uint64() {
			same[0]++
		}
		if x == stream.Uint64() {
			same[1]++
		}
	}
	if same != [2]int{} {
		t.Errorf("other seeds or streams gave the same numbers: %v", same)
	}
}

func TestTextFollowsItsPattern(t *testing.T) {
	r := New(5, 5)
	seen := [256]int{}
	for range 10_000 {
		b := AppendPattern(nil, "##-??", r)
		if len(b) != 5 || b[2] != '-' {
			t.Fatalf("got %q", b)
		}
		for _, c := range b {
			seen[c]++
		}
	}
	for c, lo := range map[byte]int{'0': 1800, '9': 1800, 'a': 650, 'z': 650} {
		if seen[c] < lo {
			t.Errorf("%q came %d times", c, seen[c])
		}
	}
	for _, n := range []int{0, 1, 7, 8, 9, 100} {
		if len(AppendBytes(nil, n, r)) != n || len(AppendLetters(nil, n, r)) != n || len(AppendDigits(nil, n, r)) != n {
			t.Errorf("length %d", n)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	r, buffer := New(1, 1), make([]byte, 0, 4096)
	for name, f := range map[string]func(){
		"zipf":      func(d Distribution) func() { return func() { d.Draw(r, 1000) } }(NewZipf(Theta)),
		"latest":    func(d Distribution) func() { return func() { d.Draw(r, r.Int64N(1000)+1) } }(NewLatest(Theta)),
		"scrambled": func(d Distribution) func() { return func() { d.Draw(r, 1000) } }(NewScrambled(Theta)),
		"special":   func(d Distribution) func() { return func() { d.Draw(r, 1000) } }(Special{0.75, 0.01, 12}),
		"pattern":   func() { buffer = AppendPattern(buffer[:0], "###########-###########", r) },
		"letters":   func() { buffer = AppendLetters(buffer[:0], 100, r) },
	} {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for name, d := range map[string]Distribution{
		"uniform": Uniform{}, "zipf": NewZipf(Theta), "latest": NewLatest(Theta), "scrambled": NewScrambled(Theta),
		"special": Special{0.75, 0.01, 12}, "exponential": NewExponential(0.8571, 0.95), "pareto": NewPareto(0.2),
	} {
		b.Run(name, func(b *testing.B) {
			r := New(1, 1)
			for b.Loop() {
				d.Draw(r, 1_000_000)
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	r, buffer := New(1, 1), make([]byte, 0, 4096)
	b.SetBytes(119)
	for b.Loop() {
		buffer = AppendPattern(buffer[:0], "###########-###########-###########-###########-###########-###########-###########-###########-###########-###########", r)
	}
}
