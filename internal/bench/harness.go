package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"plimsoll/load"
)

// idle is a client that does nothing, so that what remains is the harness.
type idle struct{}

func (idle) Next() int                       { return 0 }
func (idle) Do(context.Context, int) error   { return nil }
func (idle) Reconnect(context.Context) error { return nil }
func (idle) Interrupt()                      {}
func (idle) Close() error                    { return nil }

func harness(ctx context.Context, o options) error {
	connect := func(context.Context, int) (load.Client, error) { return idle{}, nil }
	fmt.Println("| loop | operations per second | CPU µs per operation | allocations per operation |")
	fmt.Println("|---|---|---|---|")
	for _, l := range []struct {
		name        string
		connections int
		rate        float64
	}{
		{"closed, 16 connections", 16, 0}, {"closed, 64 connections", 64, 0},
		{"open, 1 M/s", 64, 1e6}, {"open, 50 k/s", 64, 5e4},
	} {
		spec := load.Spec{Operations: []string{"nothing"}, Connections: l.connections, Duration: time.Duration(min(o.seconds, 5)) * time.Second}
		if l.rate > 0 {
			schedule, err := load.Uniform(load.Constant(l.rate))
			if err != nil {
				return err
			}
			spec.Schedule = schedule
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := load.Run(ctx, spec, connect, nil)
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		fmt.Printf("| %s | %.0f | %.3f | %.5f |\n", l.name, s.All.Throughput(), micros(s.CPU)/float64(s.All.Done),
			float64(after.Mallocs-before.Mallocs)/float64(s.All.Done))
	}
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
