package analyze

import (
	"math"
	"slices"
	"time"
)

// Dip is one period in which the service was worse than in its baseline.
type Dip struct {
	Onset     time.Time     `json:"onset"`
	Recovered time.Time     `json:"recovered"`       // zero: not within the data
	Took      time.Duration `json:"took_ns"`         // onset to recovered, or to the end of the data
	Seconds   int           `json:"seconds"`         // from onset to recovered
	Worse     int           `json:"worse,omitempty"` // of these: the others are good ones between two that were worse
	Depth     Estimate      `json:"depth"`           // throughput / baseline
	Rise      Estimate      `json:"rise"`            // p99 response time / baseline; no value where nothing completed
	Errors    int64         `json:"errors"`
	Usual     bool          `json:"usual,omitempty"`      // throughput did not fall in it
	UsualRise bool          `json:"usual_rise,omitempty"` // the p99 response time did not rise in it
}

// breath is how long a service must be well for the next harm to be another dip.
const breath = 3

// fewest is how many seconds an interval needs: of fewer it would say how alike they happened to be.
const fewest = 3

// DipsOf dates every period of lower throughput or longer response times from the beginning of a disturbance on, in the order
// of time. Periods with less than three good seconds between them are one. An onset is the beginning of a second: the harm
// began in that second, or late in the one before.
func DipsOf(baseline, during []Second, o Options) []Dip {
	baseline, during = fullSeconds(baseline), fullSeconds(during)
	h := harmed(baseline, during)
	marks := h.any()
	var dips []Dip
	for from := 0; from < len(marks); {
		if !marks[from] {
			from++
			continue
		}
		to := from + 1
		for i := to; i < len(marks) && i-to < breath; i++ {
			if marks[i] {
				to = i + 1
			}
		}
		dips = append(dips, dipOf(baseline, during[from:to], o))
		d, last := &dips[len(dips)-1], during[len(during)-1]
		d.Took = last.Start.Add(last.Length).Sub(d.Onset)
		for _, worse := range marks[from:to] {
			if worse {
				d.Worse++
			}
		}
		d.Usual, d.UsualRise = !slices.Contains(h.loss[from:to], true), !slices.Contains(h.slow[from:to], true)
		if to < len(during) {
			d.Recovered = during[to].Start
			d.Took = d.Recovered.Sub(d.Onset)
		}
		from = to
	}
	return dips
}

func dipOf(baseline, seconds []Second, o Options) Dip {
	d := Dip{Onset: seconds[0].Start, Seconds: len(seconds)}
	for _, s := range seconds {
		d.Errors += s.Errors
	}
	against := func(of Statistic) Estimate {
		q := func(all []Second) Quantity { return Quantity{Rounds: [][]Second{all}, Statistic: of} }
		e := RatioOf(q(seconds), q(baseline), o)
		if len(seconds) < fewest {
			e = Estimate{Value: e.Value, Low: 0, High: math.Inf(1), Confidence: e.Confidence, Effective: e.Effective}
		}
		return e
	}
	d.Depth, d.Rise = against(Throughput()), against(Percentile(0.99, Response))
	return d
}
