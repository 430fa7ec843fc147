package load_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
)

// A server that stands still for 5 s under 1,000 operations a second has a known answer. An operation due u after the
// freeze began is answered when the server goes on, 5−u later, and when those before it have been served: c connections
// serve c/S a second, so it waits u·λ·S/c more. Response falls in a straight line, 5 − u·(1−ρ) with ρ = λ·S/c, and x is
// exceeded by λ·(5−x)/(1−ρ) operations, whatever their number in all.
func TestFrozenServer(t *testing.T) {
	const (
		rate        = 1000
		frozen      = 5 * time.Second
		service     = time.Millisecond
		connections = 64
	)
	busy := rate * service.Seconds() / connections
	for _, length := range []time.Duration{8 * time.Second, 15 * time.Second, 30 * time.Second, 2 * time.Minute} {
		t.Run(length.String(), func(t *testing.T) {
			server := &loadtest.Server{Service: fixed(service)}
			spec := load.Spec{
				Operations: []string{"read"}, Connections: connections, Duration: length,
				Schedule: schedule(t, load.Uniform, load.Constant(rate)),
			}
			out := run(t, spec, server, func(context.Context, func()) {
				time.Sleep(1500 * time.Millisecond)
				server.Freeze()
				time.Sleep(frozen)
				server.Thaw()
			})
			if want := int64(rate * length.Seconds()); out.All.Scheduled != want || out.All.Done != want {
				t.Errorf("%+v, want %d operations, all done", out.All.Tally, want)
			}
			for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999} {
				slower := (1 - q) * rate * length.Seconds() // operations
				want := max(frozen+service-time.Duration(slower*(1-busy)/rate*float64(time.Second)), service)
				near(t, fmt.Sprintf("response at quantile %v", q), out.All.Response.Quantile(q), want, 0.01)
			}
			near(t, "longest response", out.All.Response.Max(), frozen+service, 0.002)
			near(t, "median service", out.All.Service.Quantile(0.5), service, 0.002)
			near(t, "longest service", out.All.Service.Max(), frozen+service, 0.002)

			// It is the server that was late, not we.
			var capped float64
			for _, s := range out.seconds {
				if s.Guard.StartLag.Max() > 0 {
					t.Errorf("start lag of %v in the second at %v", s.Guard.StartLag.Max(), s.Start.Sub(out.Start))
				}
				capped += s.Guard.CapShare * s.Length.Seconds()
			}
			// All connections are busy once each has an operation, until the backlog is served.
			full := frozen.Seconds() - connections/float64(rate)
			full += frozen.Seconds() * busy / (1 - busy)
			near(t, "time at the cap", time.Duration(capped*float64(time.Second)), time.Duration(full*float64(time.Second)), 0.01)
			if backlog := out.seconds[5].Guard.Backlog; backlog < 4400 || backlog > 4500 {
				t.Errorf("backlog of %d after 4.5 s", backlog)
			}
		})
	}
}
