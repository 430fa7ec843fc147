package load_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
)

// Whenever a load is stopped, and whatever the server does meanwhile, each operation is accounted for: what was due up
// to the stop was scheduled, and nothing else.
func TestStopAtAnyMoment(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		service := time.Duration(random.Int64N(int64(30 * time.Millisecond)))
		server := &loadtest.Server{
			Service: func(int) time.Duration { return service },
			Answer: func(int) error {
				switch rand.IntN(50) {
				case 0:
					return &loadtest.Error{Kind: "deadlock"}
				case 1:
					return &loadtest.Error{Kind: "unavailable", Lost: true}
				}
				return nil
			},
		}
		spec := load.Spec{Operations: []string{"read"}, Connections: 1 + random.IntN(10), Timeout: time.Second, Grace: time.Second}
		var due []time.Duration
		if random.IntN(2) == 0 {
			s, err := load.Poisson(random.Uint64(), load.Constant(1+1000*random.Float64()))
			if err != nil {
				t.Fatal(err)
			}
			spec.Schedule = s
			due = all(s, 10*time.Second)
		}
		if random.IntN(3) == 0 {
			spec.Limit = time.Duration(random.Int64N(int64(100 * time.Millisecond)))
		}
		stopAt := time.Duration(random.Int64N(int64(4 * time.Second)))
		frozenAt, frozenFor := time.Duration(random.Int64N(int64(4*time.Second))), time.Duration(random.Int64N(int64(3*time.Second)))
		out := run(t, spec, server, func(ctx context.Context, stop func()) {
			time.AfterFunc(stopAt, stop)
			time.Sleep(frozenAt)
			server.Freeze()
			time.Sleep(frozenFor)
			server.Thaw()
		})
		if spec.Schedule != nil {
			want := int64(0)
			for _, d := range due {
				if d < stopAt {
					want++
				}
			}
			if out.All.Scheduled != want {
				t.Errorf("stopped at %v: %d operations scheduled, %d were due", stopAt, out.All.Scheduled, want)
			}
		}
		if most := stopAt + spec.Grace + 200*time.Millisecond; out.Length > most {
			t.Errorf("stopped at %v, ended at %v", stopAt, out.Length)
		}
		if t.Failed() {
			t.Fatalf("spec %+v, service %v, frozen at %v for %v", spec, service, frozenAt, frozenFor)
		}
	}
}

// At the end no operation starts; what was due is skipped, and what hangs is interrupted after the grace.
func TestEndOfAnOverload(t *testing.T) {
	server := &loadtest.Server{}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 8, Duration: 10 * time.Second, Grace: 2 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(100)),
	}
	out := run(t, spec, server, func(ctx context.Context, _ func()) {
		time.Sleep(6995 * time.Millisecond)
		server.Freeze()
		<-ctx.Done()
		server.Thaw()
	})
	if out.All.Scheduled != 1000 || out.All.Done != 700 || out.All.Errors != 8 || out.All.Skipped != 292 {
		t.Errorf("%+v", out.All.Tally)
	}
	if out.All.ErrorClasses[load.ClassTimeout] != 8 || out.Examples[load.ClassTimeout] == "" {
		t.Errorf("errors %v, examples %v", out.All.ErrorClasses, out.Examples)
	}
	if out.Length != 10*time.Second {
		t.Errorf("the load took %v", out.Length)
	}
	last := out.seconds[len(out.seconds)-1]
	if end := last.Start.Add(last.Length).Sub(out.Start); end < 12*time.Second || end > 12200*time.Millisecond {
		t.Errorf("the last second ended at %v", end)
	}
}

// A little of the end belongs to the last second, rather than making one of its own.
func TestLastSecond(t *testing.T) {
	server := &loadtest.Server{Service: fixed(30 * time.Millisecond)}
	out := run(t, load.Spec{Operations: []string{"read"}, Connections: 1, Duration: 2 * time.Second}, server, nil)
	if len(out.seconds) != 2 || out.seconds[1].Length != 1010*time.Millisecond || out.Length != 2010*time.Millisecond {
		t.Errorf("%d seconds, the last of %v, in all %v", len(out.seconds), out.seconds[len(out.seconds)-1].Length, out.Length)
	}
	if out.All.Done != 67 {
		t.Errorf("%d operations", out.All.Done)
	}
}

// A load without a duration ends with its schedule.
func TestScheduleEnds(t *testing.T) {
	server := &loadtest.Server{Service: fixed(time.Millisecond)}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 4,
		Schedule: schedule(t, load.Uniform, load.Stage{From: 100, To: 300, For: 3 * time.Second}),
	}
	out := run(t, spec, server, nil)
	if out.All.Done != 600 || out.Length > 3200*time.Millisecond {
		t.Errorf("%+v in %v", out.All.Tally, out.Length)
	}
}

// A period without operations is waited for.
func TestPauseInASchedule(t *testing.T) {
	server := &loadtest.Server{Service: fixed(time.Millisecond)}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 4, Duration: 10 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Stage{From: 10, To: 10, For: time.Second}, load.Stage{For: 4 * time.Second}, load.Constant(10)),
	}
	out := run(t, spec, server, nil)
	if out.All.Done != 60 || len(out.seconds) != 10 || len(out.seconds[2].Operations) != 0 {
		t.Errorf("%+v in %d seconds", out.All.Tally, len(out.seconds))
	}
	near(t, "longest response", out.All.Response.Max(), time.Millisecond, 0.001)
}
