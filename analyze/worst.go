package analyze

import (
	"math"
	"slices"
	"time"
)

// Worst is the worst of a few seconds, against a baseline.
type Worst struct {
	At         time.Time `json:"at"`
	Throughput float64   `json:"throughput"`           // the lowest / baseline
	Rise       float64   `json:"rise,omitempty"`       // the longest p99 response time / baseline; 0: nothing completed
	Errors     int64     `json:"errors"`               // of all the seconds
	Usual      bool      `json:"usual,omitempty"`      // the throughput is as chance makes it in the baseline
	UsualTimes bool      `json:"usual_rise,omitempty"` // no second was slower than the baseline's slowest
}

// WorstOf finds the worst of seconds, of which there must be some: where most of the throughput is gone, or the response takes
// longest, whichever is more of the baseline.
func WorstOf(baseline, seconds []Second) Worst {
	normal, usual := Value(Throughput(), baseline), Value(Percentile(0.99, Response), baseline)
	w, most := Worst{Throughput: math.Inf(1)}, math.Inf(-1)
	for _, s := range seconds {
		left, rise := throughput(s)/normal, 0.0
		if s.Response.Count() > 0 {
			rise = milliseconds(s.Response.Quantile(0.99)) / usual
		}
		harm := 1 - left
		if rise > 1 {
			harm = max(harm, 1-1/rise)
		}
		if harm > most {
			most, w.At = harm, s.Start
		}
		w.Throughput, w.Rise, w.Errors = min(w.Throughput, left), max(w.Rise, rise), w.Errors+s.Errors
	}
	w.Usual = w.Throughput*normal >= leastOf(len(seconds), baseline)
	slowest := slices.Max(append(slowness(baseline), math.Inf(-1)))
	w.UsualTimes = math.Log(w.Rise*usual) <= slowest+1e-9
	return w
}
