package series

import "time"

// Row is one line of series.csv: an interval of one operation ("all" is every operation together) with its place in
// a trial. Read back from a file its percentiles stand in the latencies, not in snapshots.
type Row struct {
	Time      time.Time
	Cell      string // "" in a trial that compares nothing
	Round     int    // from 1
	Phase     string // warmup, baseline, measure, an action's name, recovery
	Operation string
	Tally
	Response, Service, Wait Latency
	Length                  time.Duration
}

// Latency is a set of percentiles.
type Latency struct{ Mean, P50, P95, P99, P999, Max time.Duration }

// Latency returns the percentiles of what s counted.
func (s Snapshot) Latency() Latency {
	return Latency{
		Mean: s.Mean(),
		P50:  s.Quantile(0.50),
		P95:  s.Quantile(0.95),
		P99:  s.Quantile(0.99),
		P999: s.Quantile(0.999),
		Max:  s.Max(),
	}
}

// Row returns the interval as a line of series.csv. Its place in the trial is the caller's to fill in.
func (i Interval) Row() Row {
	return Row{
		Time:      i.Start,
		Operation: i.Operation,
		Tally:     i.Tally,
		Response:  i.Response.Latency(),
		Service:   i.Service.Latency(),
		Wait:      i.Wait.Latency(),
		Length:    i.Length,
	}
}
