package analyze

import (
	"cmp"
	"slices"
	"time"
)

// Impact is what a disturbance did to a metric, seen against its baseline.
type Impact struct {
	Onset        time.Time     `json:"onset"` // zero: no change found
	Worst        time.Time     `json:"worst"`
	Recovered    time.Time     `json:"recovered"` // zero: not within the data
	Depth        Estimate      `json:"depth"`     // throughput from onset to recovered / baseline; of all the data if no change was found
	LostOps      float64       `json:"lost_operations"`
	ErrorSeconds int           `json:"error_seconds"`
	WorstSecond  float64       `json:"worst_second"` // throughput of the worst second / baseline
	Took         time.Duration `json:"took_ns"`      // onset to recovered
}

// settled is how long nothing must be wrong before the service is said to be back.
const settled = 10 * time.Second

// ImpactOf sees what happened from the beginning of a disturbance on, its aftermath included, against the baseline before.
// Harm begins with the first stretch of lower throughput, longer response times or more errors, and is over when none follows for ten
// seconds, or for what is left of the data. Operations are lost in between: what the baseline would have completed minus
// what was completed, so that what is delayed and caught up with is not lost.
func ImpactOf(baseline, during []Second, o Options) Impact {
	baseline, during = fullSeconds(baseline), fullSeconds(during)
	var impact Impact
	for _, s := range during {
		if s.Errors > 0 {
			impact.ErrorSeconds++
		}
	}
	normal := Value(Throughput(), baseline)
	if from, to, found := stretch(harmed(baseline, during)); found {
		impact.Onset = during[from].Start
		if to < len(during) {
			impact.Recovered = during[to].Start
			impact.Took = impact.Recovered.Sub(impact.Onset)
		}
		during = during[from:to]
		for _, s := range during {
			impact.LostOps += (normal - throughput(s)) * s.Length.Seconds()
		}
		impact.LostOps = max(impact.LostOps, 0)
	}
	impact.Depth = RatioOf(oneRound(during), oneRound(baseline), o)
	if len(during) > 0 && normal > 0 {
		worst := slices.MinFunc(during, func(a, b Second) int { return cmp.Compare(throughput(a), throughput(b)) })
		impact.Worst, impact.WorstSecond = worst.Start, throughput(worst)/normal
	}
	return impact
}

func oneRound(seconds []Second) Quantity {
	return Quantity{Name: "throughput", Rounds: [][]Second{seconds}, Statistic: Throughput()}
}

// fullSeconds leaves out what is much shorter than a second, whose rate says little.
func fullSeconds(seconds []Second) []Second {
	return slices.DeleteFunc(slices.Clone(seconds), func(s Second) bool { return s.Length < time.Second/2 })
}

func throughput(s Second) float64 { return float64(s.Completed()) / s.Length.Seconds() }

// stretch returns the first stretch of harm, with the pauses in it that are too short to count as recovery.
func stretch(harmed []bool) (from, to int, found bool) {
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
