package load_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/load"
	"plimsoll/load/loadtest"
	"plimsoll/series"
)

// outcome is a finished load.
type outcome struct {
	load.Summary
	seconds []load.Second
}

// run runs a load in a bubble of its own, beside what happens to the server meanwhile, and checks what holds of every load.
func run(t *testing.T, spec load.Spec, server *loadtest.Server, happens func(ctx context.Context, stop func())) outcome {
	t.Helper()
	var out outcome
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var happening sync.WaitGroup
		if happens != nil {
			happening.Go(func() { happens(ctx, stop) })
		}
		if spec.NewAlarm == nil {
			spec.NewAlarm = load.NewTimer
		}
		var err error
		out.Summary, err = load.Run(ctx, spec, server.Connect, func(s load.Second) { out.seconds = append(out.seconds, s) })
		if err != nil {
			t.Fatal(err)
		}
		stop()
		happening.Wait()
	})
	out.check(t)
	return out
}

// check is what must hold of every load: each operation ended in one way, and the seconds add up to the whole.
func (o outcome) check(t *testing.T) {
	t.Helper()
	sum := map[string]series.Tally{}
	classes := map[string]int64{}
	response, service, wait := series.NewHistogram(), series.NewHistogram(), series.NewHistogram()
	end := o.Start
	for _, s := range o.seconds {
		if !s.Start.Equal(end) {
			t.Errorf("a second starts at %v, the one before ended at %v", s.Start, end)
		}
		end = s.Start.Add(s.Length)
		for _, i := range s.Operations {
			if !i.Balanced() {
				t.Errorf("not balanced: %+v", i.Tally)
			}
			if n := i.Done + i.Late; i.Response.Count() != n || i.Service.Count() != n {
				t.Errorf("%d operations completed, %d response and %d service times", n, i.Response.Count(), i.Service.Count())
			}
			var errors int64
			for class, n := range i.ErrorClasses {
				errors += n
				classes[class] += n
			}
			if errors != i.Errors {
				t.Errorf("%d errors, %d by class", i.Errors, errors)
			}
			sum[i.Operation] = sum[i.Operation].Plus(i.Tally)
			response.Add(i.Response)
			service.Add(i.Service)
			wait.Add(i.Wait)
		}
	}
	var all series.Tally
	for _, i := range o.Operations {
		if i.Tally != sum[i.Operation] {
			t.Errorf("%s: the seconds have %+v, the whole %+v", i.Operation, sum[i.Operation], i.Tally)
		}
		all = all.Plus(i.Tally)
		delete(sum, i.Operation)
	}
	if len(sum) > 0 || o.All.Tally != all || !all.Balanced() {
		t.Errorf("all is %+v, the operations %+v, and %v is missing", o.All.Tally, all, sum)
	}
	for _, h := range []struct {
		name  string
		whole series.Snapshot
		sum   *series.Histogram
	}{{"response", o.All.Response, response}, {"service", o.All.Service, service}, {"wait", o.All.Wait, wait}} {
		if same := slices.Equal(buckets(h.whole), buckets(h.sum.Snapshot())); !same {
			t.Errorf("the seconds' %s times are not the whole's", h.name)
		}
	}
}

func buckets(s series.Snapshot) (all []int64) {
	for d, n := range s.Buckets() {
		all = append(all, int64(d), n)
	}
	return all
}

func schedule(t *testing.T, make func(...load.Stage) (load.Schedule, error), stages ...load.Stage) load.Schedule {
	t.Helper()
	s, err := make(stages...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fixed(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// near fails unless got is within a share of want.
func near(t *testing.T, what string, got, want time.Duration, share float64) {
	t.Helper()
	if math.Abs(float64(got-want)) > share*float64(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestClosedLoop(t *testing.T) {
	server := &loadtest.Server{Service: fixed(4 * time.Millisecond)}
	out := run(t, load.Spec{Operations: []string{"read"}, Connections: 8, Duration: 10 * time.Second}, server, nil)
	if out.All.Done != 8*2500 || out.All.Scheduled != 8*2500 || out.Length != 10*time.Second || len(out.seconds) != 10 {
		t.Errorf("%+v in %v and %d seconds", out.All.Tally, out.Length, len(out.seconds))
	}
	near(t, "service", out.All.Service.Quantile(0.5), 4*time.Millisecond, 0.001)
	near(t, "response", out.All.Response.Max(), 4*time.Millisecond, 0.001)
	for _, s := range out.seconds {
		if n := s.Operations[0].Done; s.Length != time.Second || n < 8*249 || n > 8*251 {
			t.Errorf("a second of %v with %d operations", s.Length, s.Operations[0].Done)
		}
	}
	if server.Connections() != 0 {
		t.Errorf("%d connections were left open", server.Connections())
	}
}

func TestOpenLoopKeepsItsSchedule(t *testing.T) {
	server := &loadtest.Server{Service: fixed(2 * time.Millisecond)}
	spec := load.Spec{
		Operations: []string{"read"}, Connections: 4, Duration: 10 * time.Second,
		Schedule: schedule(t, load.Uniform, load.Constant(1000.3)), // with 1000 the last digit of a second would be a draw
	}
	out := run(t, spec, server, nil)
	if out.All.Scheduled != 10_003 || out.All.Done != 10_003 {
		t.Errorf("%+v", out.All.Tally)
	}
	near(t, "response", out.All.Response.Max(), 2*time.Millisecond, 0.001)
	if out.All.Wait.Max() != 0 {
		t.Errorf("waited up to %v", out.All.Wait.Max())
	}
	for _, s := range out.seconds {
		if s.Guard.StartLag.Max() > 0 || s.Guard.CapShare > 0 || s.Guard.Backlog > 0 {
			t.Errorf("guard: %+v", s.Guard)
		}
	}
}

// A closed loop of several kinds draws each by its worker's sequence.
func TestOperationsAreToldApart(t *testing.T) {
	server := &loadtest.Server{
		Service: func(operation int) time.Duration { return time.Duration(1+operation) * time.Millisecond },
		Mix: func(worker int) func() int {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			return func() int { return random.IntN(3) }
		},
	}
	out := run(t, load.Spec{Operations: []string{"a", "b", "c"}, Connections: 5, Duration: 5 * time.Second}, server, nil)
	if len(out.Operations) != 3 {
		t.Fatalf("%d operations", len(out.Operations))
	}
	for i, o := range out.Operations {
		near(t, o.Operation, o.Service.Quantile(0.5), time.Duration(1+i)*time.Millisecond, 0.001)
	}
}
