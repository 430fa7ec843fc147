// Package analyze turns seconds into estimates with intervals, and estimates into verdicts.
package analyze

import (
	"time"

	"plimsoll/series"
)

// Answer is a verdict.
type Answer string

const (
	Pass         Answer = "PASS"
	Fail         Answer = "FAIL"
	Inconclusive Answer = "INCONCLUSIVE"
	Invalid      Answer = "INVALID"
)

// Second is one second of one stretch of a trial, of one operation or of all together.
type Second struct {
	Length time.Duration
	series.Tally
	Response, Service series.Snapshot
}

// Statistic computes a metric from seconds: throughput, a percentile of the merged response times, the error share.
// It must not depend on the seconds' order.
type Statistic func(seconds []Second) float64

// Quantity is one metric of one cell or phase, measured in one or more rounds.
// Seconds of different quantities of a claim with the same round index were measured close together and are paired.
type Quantity struct {
	Name      string
	Rounds    [][]Second
	Statistic Statistic
	Exact     *float64 // a number that is known, not estimated (lost writes); Rounds are then ignored
}

// Claim is one expectation: Estimate(quantities) Op Margin.
type Claim struct {
	Text       string // as the user wrote it, with the cell it is asked for
	Quantities []Quantity
	Estimate   func(values []float64) float64 // one value per quantity, in order; a ratio or a plain value
	Ratio      bool                           // Estimate is a ratio of positive values: judged on the log scale
	Unit       string                         // of the estimate: ratio, share, ms, per_second, count; "" when it has none
	Op         string                         // < <= > >= == !=
	Margin     float64
}

// Estimate is a number with its interval.
type Estimate struct {
	Value      float64 `json:"value"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // of the interval, 0.99
	Effective  float64 `json:"effective"`  // effective sample size, seconds
}

// Finding is a judged claim. Its keys are a promise to other programs.
type Finding struct {
	Expect     string  `json:"expect"`
	Verdict    Answer  `json:"verdict"`
	Estimate   float64 `json:"estimate"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	Margin     float64 `json:"margin"`
	Needs      string  `json:"needs"` // for INCONCLUSIVE: how much longer or how many rounds; else empty
	Op         string  `json:"op"`    // as in Claim
	Unit       string  `json:"unit"`  // as in Claim
}

// Impact is what a disturbance did to a metric, seen against its baseline.
type Impact struct {
	Onset        time.Time     `json:"onset"` // zero: no change found
	Worst        time.Time     `json:"worst"`
	Recovered    time.Time     `json:"recovered"` // zero: not within the data
	Depth        Estimate      `json:"depth"`     // throughput during / baseline
	LostOps      float64       `json:"lost_operations"`
	ErrorSeconds int           `json:"error_seconds"`
	WorstSecond  float64       `json:"worst_second"` // throughput of the worst second / baseline
	Took         time.Duration `json:"took_ns"`      // onset to recovered
}
