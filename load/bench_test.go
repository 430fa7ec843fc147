package load_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/series"
)

// null answers at once: what a load costs with it is the generator's own.
type null struct{ n int }

func (c *null) Next() int                       { c.n++; return c.n % 5 }
func (c *null) Do(context.Context, int) error   { return nil }
func (c *null) Reconnect(context.Context) error { return nil }
func (c *null) Interrupt()                      {}
func (c *null) Close() error                    { return nil }

func connectNull(context.Context, int) (load.Client, error) { return new(null), nil }

var fiveOperations = []string{"a", "b", "c", "d", "e"}

// cost runs a load of null clients and reports what an operation cost.
func cost(b *testing.B, spec load.Spec) {
	spec.Operations = fiveOperations
	spec.Duration = 2 * time.Second
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lag := series.NewHistogram()
		out, err := load.Run(b.Context(), spec, connectNull, func(s load.Second) { lag.Add(s.Guard.StartLag) })
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(out.CPU.Nanoseconds())/1e3/float64(out.All.Scheduled), "cpu-µs/op")
		b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(out.All.Scheduled), "allocs/op")
		b.ReportMetric(float64(out.All.Scheduled)/out.Length.Seconds(), "op/s")
		b.ReportMetric(float64(after.Sys)/1e6, "MB")
		b.ReportMetric(0, "ns/op")
		if spec.Schedule != nil {
			b.ReportMetric(float64(lag.Quantile(0.99).Microseconds()), "lag-p99-µs")
			b.ReportMetric(float64(lag.Quantile(0.5).Microseconds()), "lag-p50-µs")
		}
	}
}

func BenchmarkClosedLoop(b *testing.B) {
	for _, connections := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("connections=%d", connections), func(b *testing.B) {
			cost(b, load.Spec{Connections: connections})
		})
	}
}

func BenchmarkOpenLoop(b *testing.B) {
	for _, rate := range []float64{1e3, 1e4, 5e4, 2e5, 1e6} {
		b.Run(fmt.Sprintf("rate=%.0f", rate), func(b *testing.B) {
			s, err := load.Poisson(1, load.Constant(rate))
			if err != nil {
				b.Fatal(err)
			}
			cost(b, load.Spec{Connections: 64, Schedule: s})
		})
	}
}
