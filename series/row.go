package series

import (
	"fmt"
	"io"
	"iter"
	"time"
)

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

// RowWriter writes series.csv. It is not safe for concurrent use.
type RowWriter struct{ table *tableWriter[Row] }

// NewRowWriter begins the file with its header.
func NewRowWriter(w io.Writer) (*RowWriter, error) {
	table, err := newTableWriter(w, rowColumns())
	if err != nil {
		return nil, fmt.Errorf("begin series: %w", err)
	}
	return &RowWriter{table}, nil
}

// Write appends rows, usually those of one second.
func (w *RowWriter) Write(rows ...Row) error {
	if err := w.table.write(rows); err != nil {
		return fmt.Errorf("write series: %w", err)
	}
	return nil
}

// ReadRows yields the rows of series.csv. After an error there is nothing more.
func ReadRows(r io.Reader) iter.Seq2[Row, error] {
	return readTable(r, "series", rowColumns())
}

// rowColumns are the columns of series.csv. Those up to the latencies' are a promise to other programs.
func rowColumns() []column[Row] {
	columns := []column[Row]{
		{"time", func(r *Row) any { return &r.Time }},
		{"cell", func(r *Row) any { return &r.Cell }},
		{"phase", func(r *Row) any { return &r.Phase }},
		{"operation", func(r *Row) any { return &r.Operation }},
		{"scheduled", func(r *Row) any { return &r.Scheduled }},
		{"done", func(r *Row) any { return &r.Done }},
		{"errors", func(r *Row) any { return &r.Errors }},
		{"late", func(r *Row) any { return &r.Late }},
		{"skipped", func(r *Row) any { return &r.Skipped }},
	}
	latencies := []struct {
		name string
		of   func(*Row) *Latency
	}{
		{"response", func(r *Row) *Latency { return &r.Response }},
		{"service", func(r *Row) *Latency { return &r.Service }},
		{"wait", func(r *Row) *Latency { return &r.Wait }},
	}
	for _, l := range latencies {
		columns = append(columns,
			column[Row]{l.name + "_p50_ms", func(r *Row) any { return (*milliseconds)(&l.of(r).P50) }},
			column[Row]{l.name + "_p95_ms", func(r *Row) any { return (*milliseconds)(&l.of(r).P95) }},
			column[Row]{l.name + "_p99_ms", func(r *Row) any { return (*milliseconds)(&l.of(r).P99) }},
			column[Row]{l.name + "_p999_ms", func(r *Row) any { return (*milliseconds)(&l.of(r).P999) }},
			column[Row]{l.name + "_max_ms", func(r *Row) any { return (*milliseconds)(&l.of(r).Max) }},
		)
	}
	for _, l := range latencies {
		columns = append(columns,
			column[Row]{l.name + "_mean_ms", func(r *Row) any { return (*milliseconds)(&l.of(r).Mean) }})
	}
	return append(columns,
		column[Row]{"round", func(r *Row) any { return &r.Round }},
		column[Row]{"seconds", func(r *Row) any { return (*seconds)(&r.Length) }},
	)
}
