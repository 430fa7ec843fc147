package memory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"plimsoll/advise"

	"plimsoll/engine"
)

// sum is intervals together.
type sum struct {
	seconds, reads, requests, pages, seen, moved float64
	back, fresh, promoted, movedGaps, loadedGaps []float64
}

// add adds an interval so many times.
func (s *sum) add(i *Interval, times float64) {
	s.seconds += times * i.Seconds
	s.reads += times * float64(i.Counts.Read)
	s.requests += times * float64(i.Counts.Requests)
	s.pages += times * i.Pages * i.Seconds
	seen := 0.0
	for b, n := range i.Back {
		s.back[b] += times * n * i.likelierThanSeen(b)
		seen += n
	}
	fresh := 0.0
	for _, n := range i.Fresh {
		fresh += n
	}
	if fresh > 0 { // pages that were made and not read are among those that were never seen before
		read := max(fresh-float64(i.Counts.Created), 0) / fresh
		for b, n := range i.Fresh {
			s.fresh[b] += times * n * read
			seen += n * read
		}
	}
	for b, n := range i.Promoted {
		s.promoted[b] += times * n
		s.moved += times * n
	}
	for b := range i.MovedGaps {
		s.movedGaps[b] += times * i.MovedGaps[b]
		s.loadedGaps[b] += times * i.LoadedGaps[b]
	}
	s.seen += times * seen
}

// mostLikelier bounds what one page that was seen may stand for.
const mostLikelier = 12

// likelierThanSeen is how many pages that came back from a depth one stands for that was seen to. A page that leaves and comes back between
// two lists is on both and goes unseen: that it is seen takes a list while it is away, and the less often so the less had left meanwhile. So
// it is weighted by the inverse of that chance (Horvitz and Thompson 1952), which makes predictions the same however often lists are taken.
func (i *Interval) likelierThanSeen(bin int) float64 {
	between := i.Loads / max(i.Pages, 1) // what part of the cache was replaced between the lists
	depth := (float64(bin) + 0.5) / perCache
	return min(max(between/depth, 1), mostLikelier)
}

func newSum() *sum {
	return &sum{back: make([]float64, bins), fresh: make([]float64, bins), promoted: make([]float64, perCache), movedGaps: make([]float64, gapBins), loadedGaps: make([]float64, gapBins)}
}

// shape is what the lists say of other sizes.
type shape struct {
	seconds  float64 // that were looked at
	rate     float64 // pages read a second as it is
	survival []float64
	known    float64   // up to how many times the cache
	more     []float64 // by bin of rank: reads that a cache of so much would add, in shares of today's
	// Of caches up to a size promotions tell too little: their share of today's reads by the gaps between uses.
	hidden     []float64
	hiddenUpTo float64
}

func (s *sum) shape() shape {
	out := shape{seconds: s.seconds, rate: s.reads / s.seconds, more: make([]float64, perCache+1)}
	var until int
	out.survival, until = survival(s.back, s.fresh)
	out.known = 1 + float64(until)/perCache
	for b := perCache - 1; b >= 0; b-- {
		out.more[b] = out.more[b+1] + s.promoted[b]/max(s.seen, 1)
	}
	out.hidden, out.hiddenUpTo = s.hidden()
	return out
}

// share is what part of today's reads a cache of so many times the size has.
func (s shape) share(times float64) float64 {
	if times >= 1 {
		return between(s.survival, (times-1)*perCache)
	}
	share := 1 + between(s.more, times*perCache)
	if times >= s.hiddenUpTo {
		return share
	}
	const blended = 0.1 // of the sizes up to there are between both
	weight := min((s.hiddenUpTo-times)/(blended*s.hiddenUpTo), 1)
	return share + weight*max(between(s.hidden, times*perCache)-share, 0)
}

// between interpolates.
func between(values []float64, at float64) float64 {
	i := int(at)
	if i >= len(values)-1 {
		return values[len(values)-1]
	}
	return values[i] + (at-float64(i))*(values[i+1]-values[i])
}

const (
	resamples  = 200
	confidence = 0.90
	// The error that is not chance: measured by running servers again at other sizes, see docs/accuracy.md.
	errorNow   = 0.03
	errorTwice = 0.06 // more with each doubling or halving
	// Where uses that leave no trace are estimated, by how much the interval is wider to each side: they were up to a quarter off.
	errorHidden = 1.3
)

// Predict computes the curve at sizes in bytes. dataPages is how many pages of data there are, 0 if that is not known.
func Predict(intervals []Interval, cache engine.PageCache, dataPages int64, sizes []int64, seed uint64) advise.Curve {
	all := newSum()
	for i := range intervals {
		all.add(&intervals[i], 1)
	}
	now := all.shape()
	resampled := bootstrap(intervals, rand.New(rand.NewPCG(seed, 0)))
	held := all.pages / all.seconds
	idle := max(float64(cache.Pages)-held, 0) // pages without data, which the server keeps free or uses otherwise
	fit := fitModel(now, held, float64(dataPages))
	curve := advise.Curve{Skew: fit.skew, Now: advise.Point{Bytes: cache.Size, Times: 1, Source: advise.FromHistory}}
	curve.Now.Reads, curve.Now.Model = now.rate, now.rate
	rates := make([]float64, len(resampled))
	for i, r := range resampled {
		rates[i] = r.rate
	}
	curve.Now.Low, curve.Now.High = within(rates)
	perByte := float64(cache.Pages) / float64(max(cache.Size, 1))
	at := func(size int64) advise.Point {
		pages := max(float64(size)*perByte-idle, 0.02*float64(size)*perByte)
		return predict(size, pages/held, now, resampled, fit, float64(dataPages)/held)
	}
	for _, size := range sizes {
		if size == cache.Size {
			curve.Points = append(curve.Points, curve.Now)
			continue
		}
		curve.Points = append(curve.Points, at(size))
	}
	curve.Knee, curve.KneeDoubt = knee(at, cache.Size, now.rate)
	if dataPages > 0 && perByte > 0 {
		curve.AllData = int64(math.Ceil((float64(dataPages) + idle) / perByte))
	}
	return curve
}

func predict(size int64, times float64, now shape, resampled []shape, fit model, data float64) advise.Point {
	p := advise.Point{Bytes: size, Times: times, Source: advise.FromHistory, Model: fit.share(times) * now.rate}
	if data > 0 && times >= data {
		p.Source, p.High = advise.AllData, 0.02*now.rate
		return p
	}
	known := min(times, now.known)
	p.Reads = now.share(known) * now.rate
	values := make([]float64, len(resampled))
	for i, r := range resampled {
		values[i] = r.share(known) * now.rate
	}
	p.Low, p.High = within(values)
	wide := math.Exp(1.645 * (errorNow + errorTwice*math.Abs(math.Log2(known)))) // beyond what is known no more can be left than there
	p.Low, p.High = min(p.Low, p.Reads)/wide, max(p.High, p.Reads)*wide
	if times > known {
		p = beyond(p, times, now, fit)
	}
	switch {
	case disagree(p.Reads, p.Model, now.rate):
		also := fmt.Sprintf("the fitted model, a second method, predicts %s reads a second", grouped(p.Model))
		if p.Doubt != "" {
			also = p.Doubt + "; " + also
		}
		p.Doubt = also
		doubted(&p)
		if times > known { // the methods may be farther apart there; of more memory no more reads are possible
			p.High = min(p.High, predict(size, known, now, resampled, fit, data).High)
		}
	case times <= known && times < now.hiddenUpTo:
		p.Doubt = "the server moves a page that is used so often on its list only now and then, and the uses between are estimated"
		p.Low, p.High = p.Low/errorHidden, p.High*errorHidden
	}
	return p
}

// doubted makes the interval wider by as much as the two methods are apart, up to twice, to both sides, and reaches to the model's word however far that
// is: that they disagree says that one of them is wrong, and not in which direction the truth lies.
func doubted(p *advise.Point) {
	apart := math.Exp(min(math.Abs(math.Log(max(p.Model, 1e-9)/max(p.Reads, 1e-9))), math.Ln2))
	p.Low, p.High = min(p.Low/apart, p.Model), max(p.High*apart, p.Model)
}

// beyond takes a point from the last size that the lists know to one that they do not. What is left there is the most that can be left
// here; how much less nobody saw: all below is possible. Reads fall as the model's do, or as much steeper as they fell at the end of what is known.
// Pages that are used seldom are left last, so that the steepness does not last either, and reads lie between both: in the middle of their logarithms.
func beyond(p advise.Point, times float64, now shape, fit model) advise.Point {
	p.Low = 0
	if at := fit.share(now.known); at > 0 {
		p.Reads *= math.Pow(min(fit.share(times)/at, 1), (1+now.steeper(fit))/2)
	}
	if p.High > KneeShare*now.rate {
		p.Source, p.Doubt = advise.FromModel, "no page was seen to return from that distance: observe for longer"+now.longEnough(times)
	}
	return p
}

// These, and that reads fall between both slopes by the middle of their logarithms, were chosen on a simulation of tpcc, and looked at with laws of
// Zipf, even access, two heats and scans: docs/decisions/264-where-lists-end-reads-fall-between-two-slopes.md.
const (
	// steepOver is how much of the cache, up to the last size that is known, tells how reads fall there.
	steepOver = 0.125
	// mostSteep bounds how many times as steep as the model's the reads of the lists may fall.
	mostSteep = 5
)

// steeper is how many times as steep as the model's the reads of the lists fall where they end: 1, as the model's, where both agree on how many are left
// there, and where the lists' fall less, since scans that come now and then make steps.
func (s shape) steeper(fit model) float64 {
	from := max(s.known-steepOver, 1)
	lists, model := s.share(s.known), fit.share(s.known)
	if !disagree(lists, model, 1) || s.known-from < steepOver/2 {
		return 1
	}
	if expected := fall(fit.share(from), model); expected > 0 {
		return min(max(fall(s.share(from), lists)/expected, 1), mostSteep)
	}
	return 1
}

// fall is how much a share falls, as a logarithm.
func fall(from, to float64) float64 {
	const least = 1e-6
	return max(math.Log(max(from, least)/max(to, least)), 0)
}

// longEnough says for how long one would have to observe to know so many times the cache. What is known reaches as far as pages were replaced.
func (s shape) longEnough(times float64) string {
	const margin, most = 1.25, 24 * time.Hour
	if s.known-1 < 2.0/perCache {
		return ""
	}
	needed := time.Duration(margin * s.seconds * (times - 1) / (s.known - 1) * float64(time.Second))
	if needed > most {
		return "; at this rate of reads it would take more than a day"
	}
	return ", about --for " + (needed.Truncate(time.Minute) + time.Minute).String()
}

// KneeShare is what is left of the reads where more memory hardly matters any more.
const KneeShare = 0.05

// mostApart is how far the two methods may be apart, as a share of today's reads and of the prediction.
const mostApart = 0.15

// disagree tells whether the two methods are too far apart about what is left of today's reads.
func disagree(lists, model, today float64) bool {
	apart := math.Abs(model - lists)
	return apart > mostApart*max(today, 1e-9) && apart > mostApart*lists
}

// knee looks for the smallest cache that leaves under 5 % of the reads, and says why it is of low confidence; 0: not known.
func knee(at func(int64) advise.Point, now int64, rate float64) (bytes int64, doubt string) {
	const step = 1.02
	for size := float64(now); size < 24*float64(now); size *= step {
		p := at(int64(size))
		if p.Source == advise.FromModel {
			return 0, ""
		}
		if p.Reads < KneeShare*rate {
			return int64(size), p.Doubt
		}
	}
	return 0, ""
}

// bootstrap draws the intervals anew in blocks (circular block bootstrap: Politis and Romano 1992), since what comes one
// after the other is alike.
func bootstrap(intervals []Interval, rng *rand.Rand) []shape {
	n := len(intervals)
	block := max(int(math.Ceil(1.5*math.Sqrt(float64(n)))), 1)
	block = min(block, max(n/4, 1))
	out := make([]shape, resamples)
	for i := range out {
		s := newSum()
		for drawn := 0; drawn < n; drawn += block {
			from := rng.IntN(n)
			for j := range min(block, n-drawn) {
				s.add(&intervals[(from+j)%n], 1)
			}
		}
		out[i] = s.shape()
	}
	return out
}

// within returns the bounds of the middle 90 %.
func within(values []float64) (low, high float64) {
	slices.Sort(values)
	at := func(q float64) float64 { return values[int(q*float64(len(values)-1))] }
	return at((1 - confidence) / 2), at((1 + confidence) / 2)
}
