package loadcmd

import (
	"fmt"
	"text/tabwriter"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/workload"
)

// Summary is what load run --json ends with. Its keys are a promise to other programs.
type Summary struct {
	Tally
	Seconds      float64          `json:"seconds"`
	Queries      float64          `json:"queries_per_second,omitempty"`
	CPUPerOp     float64          `json:"cpu_us_per_op"` // of this process
	PerOperation map[string]Tally `json:"per_operation"`
	ErrorClasses map[string]int64 `json:"error_classes"`
	MaxRSS       int64            `json:"max_rss_bytes"`
	Writes       *writes          `json:"writes,omitempty"`         // of a ledger
	Reads        map[string]int64 `json:"reads_answered,omitempty"` // by replica, and by primary in place of these
}

// Tally counts the operations of a load, or of one kind of them.
type Tally struct {
	Scheduled  int64     `json:"scheduled"`
	Operations int64     `json:"operations"` // done in time
	Errors     int64     `json:"errors"`
	Late       int64     `json:"late"`
	Skipped    int64     `json:"skipped"`
	Throughput float64   `json:"throughput"` // completed per second, late ones included
	Response   latencies `json:"response_ms"`
	Service    latencies `json:"service_ms"`
}

type latencies struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

func summarize(s load.Summary, w workload.Workload) Summary {
	out := Summary{
		Tally:        tally(s.All),
		Seconds:      s.Length.Seconds(),
		CPUPerOp:     float64(s.CPUPerOperation()) / float64(time.Microsecond),
		PerOperation: map[string]Tally{},
		ErrorClasses: map[string]int64{},
		MaxRSS:       int64(s.MaxRSS),
	}
	for _, op := range s.Operations {
		out.PerOperation[op.Operation] = tally(op)
	}
	for class, n := range s.All.ErrorClasses {
		out.ErrorClasses[class] = n
	}
	for i, each := range w.QueriesPerOperation() {
		out.Queries += each * out.PerOperation[w.Operations()[i]].Throughput
	}
	return out
}

func tally(i series.Interval) Tally {
	return Tally{
		Scheduled: i.Scheduled, Operations: i.Done, Errors: i.Errors, Late: i.Late, Skipped: i.Skipped,
		Throughput: i.Throughput(), Response: latency(i.Response), Service: latency(i.Service),
	}
}

func latency(s series.Snapshot) latencies {
	l := s.Latency()
	return latencies{Mean: console.Milliseconds(l.Mean), P50: console.Milliseconds(l.P50), P95: console.Milliseconds(l.P95), P99: console.Milliseconds(l.P99), P999: console.Milliseconds(l.P999), Max: console.Milliseconds(l.Max)}
}

func together(s load.Second) series.Interval { return series.Together(s.Start, s.Length, s.Operations) }

func showLoad(c console.Streams, sum Summary, s load.Summary, asJSON bool) error {
	if asJSON {
		return console.PrintJSON(c, sum)
	}
	t := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "operation\tper second\tdone\terrors\tlate\tskipped\tp50 ms\tp95 ms\tp99 ms\tp99.9 ms\tmax ms\t")
	row := func(name string, x Tally) {
		fmt.Fprintf(t, "%s\t%.1f\t%d\t%d\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", name, x.Throughput, x.Operations, x.Errors, x.Late, x.Skipped,
			x.Response.P50, x.Response.P95, x.Response.P99, x.Response.P999, x.Response.Max)
	}
	if len(s.Operations) > 1 {
		for _, op := range s.Operations {
			row(op.Operation, sum.PerOperation[op.Operation])
		}
	}
	row("all", sum.Tally)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "%.1f s, %.1f µs of this process's CPU per operation, %d MiB at most\n", sum.Seconds, sum.CPUPerOp, sum.MaxRSS>>20)
	if sum.Queries > 0 {
		fmt.Fprintf(c.Out, "%.0f queries per second\n", sum.Queries)
	}
	if len(sum.Reads) > 0 {
		fmt.Fprintf(c.Out, "reads answered: %s\n", sharesOf(sum.Reads))
	}
	if x := sum.Writes; x != nil {
		fmt.Fprintf(c.Out, "%d writes acknowledged: %d lost, %d duplicated, %d corrupt; %d stale reads; %d unacknowledged, of which %d are present\n",
			x.Acknowledged, x.Lost, x.Duplicated, x.Corrupt, x.Stale, x.InDoubt, x.Found)
	}
	for class, text := range s.Examples {
		fmt.Fprintf(c.Out, "errors of class %s: %d, the first: %s\n", class, sum.ErrorClasses[class], text)
	}
	return nil
}
