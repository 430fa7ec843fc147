package memory

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
)

// A hit ratio is told as the reads that it leaves, and data as what of it memory holds.
func TestAHitRatioIsExplained(t *testing.T) {
	const page, held = 16384, 1000
	i := Interval{
		Seconds: 10, Pages: held, Loads: 30_000, Back: make([]float64, bins), Fresh: make([]float64, bins), Promoted: make([]float64, perCache), Spaces: map[uint32]float64{1: 20, 2: 80},
		Counts: Counts{Requests: 1_500_000, Waited: 30_000, Read: 33_000},
	}
	i.Back[perCache/2] = 100
	seen := &Observation{
		Cache: engine.PageCache{Pages: held, Data: held, Size: held * page, PageSize: page}, Intervals: slices.Repeat([]Interval{i}, 10), Every: 1, Began: time.Unix(0, 0), Took: 100 * time.Second,
		Spaces:  []engine.DataSpace{{ID: 1, Table: "shop.hot", Bytes: 1000 * page}, {ID: 2, Table: "shop.log", Bytes: 3000 * page}},
		Objects: []engine.CachedObject{{Table: "shop.hot", Index: "PRIMARY", Pages: 800}, {Table: "shop.log", Index: "PRIMARY", Pages: 200}},
	}
	r := Reported(seen, nil, 1)
	said := strings.Join(r.Explained, "\n")
	for _, want := range []string{
		"98 % of 150,000 page requests a second were answered from memory: the rest are 3,000 reads a second from disk.",
		"Another 300 per second were read ahead: the disk does 3,300 in all.",
		"memory holds 25 %",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
	// A fifth of what is read is of the table that has four fifths of the memory.
	for _, want := range []advise.Table{
		{Table: "shop.hot", Index: "PRIMARY", Pages: 800, Share: 0.8, Of: 0.8, Reads: 660, Role: advise.Lives},
		{Table: "shop.log", Index: "PRIMARY", Pages: 200, Share: 0.2, Of: 1.0 / 15, Reads: 2640, Role: advise.Passes},
	} {
		at := slices.IndexFunc(r.Tables, func(t advise.Table) bool { return t.Table == want.Table })
		if at < 0 {
			t.Fatalf("%s is not listed: %+v", want.Table, r.Tables)
		}
		got := r.Tables[at]
		if math.Abs(got.Reads-want.Reads) > 1e-6 || math.Abs(got.Of-want.Of) > 1e-9 || got.Role != want.Role || got.Share != want.Share {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// A larger pool is warm when it has read what it did not hold: a thousand pages at a hundred a second take ten seconds, from nothing twenty.
func TestWarmthIsTheTimeOfItsReads(t *testing.T) {
	r := &advise.Memory{PageSize: 16 << 10, Data: 1e6 * 16 << 10, Line: []advise.Point{{Times: 0.01, Reads: 100}, {Times: 100, Reads: 100}}}
	if w := warmth(r, advise.Point{Times: 2}, 1000); math.Abs(w.Resized.Seconds()-10) > 0.1 || math.Abs(w.Restarted.Seconds()-20) > 0.1 {
		t.Errorf("%+v", w)
	}
	for n := range r.Line {
		r.Line[n].Low, r.Line[n].High = 80, 125
	}
	if w := warmth(r, advise.Point{Times: 2}, 1000); math.Abs(w.ResizedLow.Seconds()-8) > 0.1 || math.Abs(w.ResizedHigh.Seconds()-12.5) > 0.1 || math.Abs(w.RestartedLow.Seconds()-16) > 0.1 || math.Abs(w.RestartedHigh.Seconds()-25) > 0.1 {
		t.Errorf("with the reads at the ends of their interval: %+v", w)
	}
	if w := warmth(r, advise.Point{Times: 0.5}, 1000); w.Resized != 0 || math.Abs(w.Restarted.Seconds()-5) > 0.1 {
		t.Errorf("a smaller pool: %+v", w)
	}
}

// Two tables of different heat have a knee that no single law has: where the fitted model disagrees the figure is of low confidence, and its interval
// reaches to the model's word.
func TestWhereTheModelDisagreesConfidenceIsLow(t *testing.T) {
	const size, hot, cold, seed = 2000, 1400, 9000, 3
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	next := func() engine.Page {
		if rng.Float64() < 0.93 {
			return engine.Page(mix64(uint64(rng.IntN(hot))))
		}
		return engine.Page(mix64(uint64(hot + rng.IntN(cold))))
	}
	intervals := lookAt(newCache(size), next, 200, 400, 1)
	doubted := 0
	curve := Predict(intervals, engine.PageCache{Pages: size, Size: size, PageSize: 1}, hot+cold, []int64{size / 2, size * 3 / 4, size * 3 / 2, size * 2}, seed)
	for _, p := range curve.Points {
		apart := math.Abs(p.Model-p.Reads) / max(p.Reads, curve.Now.Reads)
		switch {
		case apart > 1.2*mostApart && p.Doubt == "":
			t.Errorf("%.0f and by the model %.0f at %v times, and nothing is said", p.Reads, p.Model, p.Times)
		case apart < 0.8*mostApart && p.Doubt != "":
			t.Errorf("%.0f and by the model %.0f at %v times: %s", p.Reads, p.Model, p.Times, p.Doubt)
		case p.Doubt != "":
			doubted++
			if !strings.Contains(p.Doubt, "predicts "+grouped(p.Model)+" reads a second") {
				t.Errorf("the model's word is not told: %s", p.Doubt)
			}
			if p.Model < p.Low || p.Model > p.High {
				t.Errorf("the interval %.0f to %.0f does not hold the model's %.0f", p.Low, p.High, p.Model)
			}
		}
	}
	if doubted == 0 {
		t.Errorf("no figure is of low confidence: %+v", curve.Points)
	}
}

// Also of a size that lies beyond all that was seen to return the two methods are compared: a hot table fits soon and leaves next to nothing to return,
// and a cold one is read once in a while.
func TestWhereTheModelDisagreesFarAwayConfidenceIsLow(t *testing.T) {
	now := shape{seconds: 60, rate: 63.6, known: 1.5, survival: make([]float64, bins+1), more: make([]float64, perCache+1)}
	for b := range now.survival {
		now.survival[b] = max(1-float64(b)/(0.5*perCache), 0.006)
	}
	for name, c := range map[string]struct {
		fit     model
		doubted bool
	}{
		"the model sees a fifth left": {model{skew: 0.5, pages: 40, now: model{skew: 0.5, pages: 40}.reads(1)}, true},
		"the model sees nothing left": {model{skew: 1.5, pages: 2.02, now: model{skew: 1.5, pages: 2.02}.reads(1)}, false},
	} {
		p := predict(2, 2, now, []shape{now}, c.fit, 0)
		if doubted := p.Doubt != ""; doubted != c.doubted || doubted && (!strings.Contains(p.Doubt, "predicts "+grouped(p.Model)+" reads a second") || p.Model < p.Low || p.Model > p.High || p.Reads < p.Low) {
			t.Errorf("%s: %.3g (%.3g to %.3g), by the model %.3g: %q", name, p.Reads, p.Low, p.High, p.Model, p.Doubt)
		}
	}
}

// What more memory leaves is told from what was observed, from the size of the data, and not at all where hardly anything is read.
func TestTheKneeIsTold(t *testing.T) {
	for want, m := range map[string]advise.Memory{
		"With 96 MiB, less than 5 % of today's reads would remain.":                                           {Reads: 60, Curve: advise.Curve{Knee: 96 << 20, AllData: 132 << 20}},
		"With 96 MiB, less than 5 % of today's reads would remain, with low confidence: the model says more.": {Reads: 60, Curve: advise.Curve{Knee: 96 << 20, KneeDoubt: "the model says more"}},
		"With 132 MiB all data fits, and no reads of it remain. The observation does not show":                {Reads: 60, Curve: advise.Curve{AllData: 132 << 20}},
		"The observation does not show how much memory would leave less than 5 % of today's reads":            {Reads: 60},
		"Memory holds what the load asks for: with 0.09 reads a second left, more of it would change nothing": {Reads: 0.09, Curve: advise.Curve{AllData: 132 << 20}},
	} {
		if got := kneeTold(&m); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	at := func(size int64) advise.Point {
		return advise.Point{Bytes: size, Reads: 2, Source: advise.FromHistory, Doubt: "the model says more"}
	}
	if bytes, doubt := knee(at, 1<<20, 60); bytes != 1<<20 || doubt != "the model says more" {
		t.Errorf("a knee at %d: %q", bytes, doubt)
	}
}
