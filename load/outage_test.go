package load_test

import (
	"context"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
)

// Through an outage of a minute every operation is accounted for, and the load is back to normal within half a second of
// the server's return.
func TestOutage(t *testing.T) {
	const (
		rate    = 500
		length  = 80 * time.Second
		downAt  = 10*time.Second + 501*time.Millisecond
		downFor = time.Minute
	)
	for name, c := range map[string]struct {
		down, up func(*loadtest.Server)
		backIn   time.Duration
	}{
		"refused":     {(*loadtest.Server).Kill, (*loadtest.Server).Start, 300 * time.Millisecond},
		"lost in net": {(*loadtest.Server).CutOff, (*loadtest.Server).Start, 1300 * time.Millisecond}, // an attempt may just have begun
	} {
		t.Run(name, func(t *testing.T) {
			server := &loadtest.Server{Service: fixed(5 * time.Millisecond)}
			happens := func(context.Context, func()) {
				time.Sleep(downAt)
				c.down(server)
				time.Sleep(downFor)
				c.up(server)
				time.Sleep(c.backIn)
				if n := server.Connections(); n != 20 {
					t.Errorf("%d connections %v after the server's return", n, c.backIn)
				}
			}
			spec := load.Spec{
				Operations: []string{"read"}, Connections: 20, Duration: length,
				Schedule: schedule(t, load.Uniform, load.Constant(rate)),
			}
			open := run(t, spec, server, happens)
			if want := int64(rate * length.Seconds()); open.All.Scheduled != want {
				t.Errorf("%d operations scheduled, want %d", open.All.Scheduled, want)
			}
			lost := rate * downFor.Seconds()
			if n := float64(open.All.Errors); n < lost || n > lost+rate*c.backIn.Seconds() || open.All.ErrorClasses["unavailable"] != open.All.Errors {
				t.Errorf("%v errors, %v operations were due while the server was down: %v", n, lost, open.All.ErrorClasses)
			}
			// What cannot be served fails at once; nothing piles up.
			near(t, "longest response", open.All.Response.Max(), 5*time.Millisecond, 0.001)
			for i, s := range open.seconds {
				down := i > 10 && i < 70
				if n := s.Operations[0].Errors; down && (n < rate-1 || n > rate+1) || !down && i != 10 && i < 70 && n > 0 {
					t.Errorf("second %d has %d errors", i, n)
				}
				if want := map[bool]int{true: 20}[down]; s.Guard.Lost != want && i != 10 && i < 70 {
					t.Errorf("second %d ends with %d connections lost", i, s.Guard.Lost)
				}
				if s.Guard.Backlog > 1 || s.Guard.CapShare > 0.01 {
					t.Errorf("second %d: %+v", i, s.Guard)
				}
			}

			// A closed loop books its attempts: few enough to count, enough to see the outage in every second.
			spec.Schedule = nil
			closed := run(t, spec, server, happens)
			for i, s := range closed.seconds[11:70] {
				n := s.Operations[0].Errors
				if name == "refused" && (n < 20*4 || n > 20*10) || name != "refused" && (n < 20*0 || n > 20*2) {
					t.Errorf("second %d of the closed loop has %d errors", 11+i, n)
				}
			}
			if n := closed.seconds[75].Operations[0].Done; n < 20*195 {
				t.Errorf("%d operations in a second after the outage", n)
			}
		})
	}
}

// When one connection of several is lost, its worker does not draw operations that others could serve, even where those
// are woken too late and the operations are due.
func TestLostConnectionDoesNotAttractOperations(t *testing.T) {
	broken := make(chan struct{}, 1)
	server := &loadtest.Server{
		Service: fixed(800 * time.Microsecond),
		Answer: func(int) error {
			select {
			case <-broken:
				return &loadtest.Error{Kind: "unavailable", Lost: true}
			default:
				return nil
			}
		},
	}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 4, Duration: 5 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(1000.3)),
	}
	for _, by := range []time.Duration{0, 300 * time.Microsecond} {
		spec.NewAlarm = alarmsLate(by)
		out := run(t, spec, server, func(context.Context, func()) {
			for range 20 {
				time.Sleep(137 * time.Millisecond)
				broken <- struct{}{}
			}
		})
		if out.All.Errors != 20 || out.All.Done != 5002-20 {
			t.Errorf("alarms %v late: %+v", by, out.All.Tally)
		}
	}
}

// A server that lets connections in and drops them at the first operation is not stormed.
func TestConnectionsThatNeverWorkArePaced(t *testing.T) {
	server := &loadtest.Server{Answer: func(int) error { return &loadtest.Error{Kind: "read_only", Lost: true} }}
	out := run(t, load.Spec{Operations: []string{"write"}, Connections: 3, Duration: 10 * time.Second}, server, nil)
	if n := out.All.Errors; n < 3*10*4 || n > 3*10*10 || out.All.ErrorClasses["read_only"] != n {
		t.Errorf("%d errors in ten seconds, %v", n, out.All.ErrorClasses)
	}
}

// Connections that came back are as free as those that were never lost: waking them late is lag, not the cap.
func TestConnectionsComeBackFree(t *testing.T) {
	const by = 200 * time.Microsecond
	server := &loadtest.Server{Service: fixed(time.Millisecond)}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 5, Duration: 10 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(100.3)), NewAlarm: alarmsLate(by),
	}
	out := run(t, spec, server, func(context.Context, func()) {
		time.Sleep(2 * time.Second)
		server.Kill()
		time.Sleep(2 * time.Second)
		server.Start()
	})
	for i, s := range out.seconds[4:] {
		if s.Guard.CapShare > 0 || s.Guard.Lost > 0 {
			t.Errorf("second %d: %+v", 4+i, s.Guard)
		}
		near(t, "start lag", s.Guard.StartLagP99, by, 0.001)
	}
}

// A load ends on time while the server is away.
func TestEndDuringOutage(t *testing.T) {
	for name, down := range map[string]func(*loadtest.Server){"refused": (*loadtest.Server).Kill, "lost in net": (*loadtest.Server).CutOff} {
		for loop, s := range map[string]load.Schedule{"closed": nil, "open": schedule(t, load.Uniform, load.Constant(100))} {
			server := &loadtest.Server{Service: fixed(time.Millisecond)}
			spec := load.Spec{Operations: []string{"read"}, Connections: 40, Duration: 5 * time.Second, Schedule: s}
			out := run(t, spec, server, func(context.Context, func()) {
				time.Sleep(1500 * time.Millisecond)
				down(server)
			})
			if last := out.seconds[len(out.seconds)-1]; len(out.seconds) != 5 || last.Length != time.Second || last.Guard.Lost != 40 {
				t.Errorf("%s, %s loop: ended with a %dth second of %v and %d connections lost", name, loop, len(out.seconds), last.Length, last.Guard.Lost)
			}
		}
	}
}
