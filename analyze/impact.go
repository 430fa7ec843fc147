package analyze

import "time"

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
