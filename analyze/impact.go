package analyze

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/series"
)

// Impact is what a disturbance did to a metric, seen against its baseline.
type Impact struct {
	Onset        time.Time     `json:"onset"` // zero: no change found
	Worst        time.Time     `json:"worst"`
	Recovered    time.Time     `json:"recovered"` // zero: not within the data
	Depth        Estimate      `json:"depth"`     // throughput from onset to recovered / baseline; of all the data if no change was found
	LostOps      float64       `json:"lost_operations"`
	Undone       int64         `json:"undone,omitempty"` // of an open loop, since the beginning: asked for and not done
	ErrorSeconds int           `json:"error_seconds"`
	WorstSecond  float64       `json:"worst_second"`    // throughput of the worst second / baseline
	Usual        bool          `json:"usual,omitempty"` // throughput did not fall: its worst second is one as they are in the baseline
	Open         bool          `json:"open,omitempty"`  // operations arrived at a rate, and those lost are counted
	Took         time.Duration `json:"took_ns"`         // onset to recovered
	// Spells are all periods in which it was felt; Onset, Recovered and Took are those of the first, and what is counted or
	// compared is of all of them.
	Spells []Spell `json:"spells,omitempty"`
}

// settled is how long nothing must be wrong before the service is said to be back.
const settled = 10 * time.Second

// ImpactOf sees what happened from the beginning of a disturbance on, its aftermath included, against the baseline before.
// Harm begins with the first period of lower throughput, longer response times or more errors, and is over when none follows for ten
// seconds, or for what is left of the data; it may come again. Operations are lost in between: what the baseline would have
// completed minus what was completed, so that what is delayed and caught up with is not lost; nothing is where the throughput did
// not fall.
func ImpactOf(baseline, during []Second, o Options) Impact {
	baseline, during = fullSeconds(baseline), fullSeconds(during)
	var impact Impact
	for _, s := range during {
		if s.Errors > 0 {
			impact.ErrorSeconds++
		}
	}
	normal := Value(Throughput(), baseline)
	impact.Spells = spells(harmed(baseline, during), during)
	if len(impact.Spells) > 0 {
		first := impact.Spells[0]
		if impact.Onset = first.From; first.Over() {
			impact.Recovered, impact.Took = first.To, first.Took
		}
		during = slices.DeleteFunc(during, func(s Second) bool { return !impact.affected(s.Start) })
		for _, s := range during {
			impact.LostOps += (normal - throughput(s)) * s.Length.Seconds()
		}
		impact.LostOps = max(impact.LostOps, 0)
	}
	impact.Depth = RatioOf(oneRound(during), oneRound(baseline), o)
	if len(during) > 0 && normal > 0 {
		worst := slices.MinFunc(during, func(a, b Second) int { return cmp.Compare(throughput(a), throughput(b)) })
		impact.Worst, impact.WorstSecond = worst.Start, throughput(worst)/normal
		impact.Usual = throughput(worst) >= leastOf(len(during), baseline) && !(impact.Depth.High < 1)
	}
	if len(impact.Spells) > 0 {
		impact.Usual = !slices.ContainsFunc(impact.Spells, func(s Spell) bool { return s.Throughput.Worse })
	}
	if impact.Usual {
		impact.LostOps = 0
	}
	return impact
}

// affected tells whether a moment lies in a spell.
func (i Impact) affected(at time.Time) bool {
	return slices.ContainsFunc(i.Spells, func(s Spell) bool { return !at.Before(s.From) && (!s.Over() || at.Before(s.To)) })
}

// Over tells whether all was as before within the data.
func (i Impact) Over() bool { return len(i.Spells) == 0 || i.Spells[len(i.Spells)-1].Over() }

// Longest is the longest spell; 0 if there was none.
func (i Impact) Longest() time.Duration {
	var longest time.Duration
	for _, s := range i.Spells {
		longest = max(longest, s.Took)
	}
	return longest
}

// ImpactOnArrivals is ImpactOf for operations that arrive whether or not others have ended. How many arrive in a second is
// chance, and nothing is lost where fewer do: lost is what was asked for since the beginning and not done, beyond the share of
// it that the baseline left undone, and what still waits at the end of a fall that does not end.
func ImpactOnArrivals(baseline, during []Second, o Options) Impact {
	impact := ImpactOf(baseline, during, o)
	impact.Open, impact.LostOps = true, 0
	before, since := together(baseline), together(during)
	impact.Undone = undone(since)
	impact.LostOps = float64(impact.Undone)
	if before.Scheduled > 0 {
		daily := float64(undone(before)) / float64(before.Scheduled) * float64(since.Scheduled)
		impact.LostOps = max(impact.LostOps-daily, 0)
	}
	if !impact.Over() && impact.Depth.High < 1 {
		normal, last := Value(Throughput(), fullSeconds(baseline)), impact.Spells[len(impact.Spells)-1]
		for _, s := range fullSeconds(during) {
			if !s.Start.Before(last.From) {
				impact.LostOps += normal*s.Length.Seconds() - float64(s.Scheduled)
			}
		}
	}
	return impact
}

func together(seconds []Second) (sum series.Tally) {
	for _, s := range seconds {
		sum = sum.Plus(s.Tally)
	}
	return sum
}

// undone are the operations that were asked for and not done: that failed or were never sent.
func undone(t series.Tally) int64 { return t.Errors + t.Skipped }

// chance is how often the worst of some seconds may be called a fall that is none.
const chance = 0.01

// leastOf is the throughput that the worst of n seconds like those of the baseline has at least, but by a chance of one in a hundred.
func leastOf(n int, baseline []Second) float64 {
	var all []float64
	for _, s := range baseline {
		all = append(all, throughput(s))
	}
	if len(all) < 2 {
		return math.Inf(1)
	}
	normal, spread := stat.MeanStdDev(all, nil)
	spread *= math.Sqrt(1 + 1/float64(len(all))) // the mean is not known better
	z := distuv.UnitNormal.Quantile(1 - chance/float64(n))
	return min(normal-z*spread, slices.Min(all))
}

func oneRound(seconds []Second) Quantity {
	return Quantity{Name: "throughput", Rounds: [][]Second{seconds}, Statistic: Throughput()}
}

// fullSeconds leaves out what is much shorter than a second, whose rate says little.
func fullSeconds(seconds []Second) []Second {
	return slices.DeleteFunc(slices.Clone(seconds), func(s Second) bool { return s.Length < time.Second/2 })
}

func throughput(s Second) float64 { return float64(s.Completed()) / s.Length.Seconds() }

// nextSpell returns the first period of harm, with the pauses in it that are too short to count as recovery.
func nextSpell(harmed []bool) (from, to int, found bool) {
	from = slices.Index(harmed, true)
	if from < 0 {
		return 0, 0, false
	}
	for i := from; i < len(harmed); i++ {
		if harmed[i] {
			to = i + 1
		} else if i-to >= int(settled/time.Second) {
			break
		}
	}
	return from, to, true
}
