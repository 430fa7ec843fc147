package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/infra"
	"plimsoll/load"
	"plimsoll/load/loadtest"
	"plimsoll/series"
	"plimsoll/workload"
)

// stage is a machine inside of a bubble: its processes are goroutines, its channels pipes, its time the bubble's. It stands in
// for a real one only so that what a load must measure can be computed.
type stage struct {
	infra.Machine
	server *loadtest.Server
	late   time.Duration        // of everything that is said to a process
	drift  func() time.Duration // of its clock

	mu        sync.Mutex
	processes []*process
}

type process struct {
	io.Reader
	io.Writer
	mute  chan struct{} // closed: it says nothing more
	crash context.CancelFunc
	close func() error
}

func (p *process) Close() error { return p.close() }

func (*stage) Name() string { return "stage" }

func (s *stage) Talk(ctx context.Context, _ infra.Command) (infra.Channel, error) {
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond) // no clock agrees with another
	ctx, crash := context.WithCancel(ctx)
	hisIn, in := io.Pipe()
	out, hisOut := io.Pipe()
	p := &process{Reader: out, Writer: slow{in, s.late}, crash: crash, mute: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		server := Server{Open: s.open, Version: "test", newAlarm: load.NewTimer, drift: s.drift}
		ended <- server.Serve(context.WithoutCancel(ctx), hisIn, mutable{hisOut, p.mute})
		_ = hisOut.Close()
	}()
	stop := context.AfterFunc(ctx, func() { // killed
		_ = hisOut.Close()
		hisIn.CloseWithError(io.EOF)
	})
	p.close = func() error {
		stop()
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := <-ended; ctx.Err() != nil {
			return fmt.Errorf("plimsoll: killed: %w", errors.Join(err, context.Cause(ctx)))
		}
		return nil
	}
	s.mu.Lock()
	s.processes = append(s.processes, p)
	s.mu.Unlock()
	return p, nil
}

func (s *stage) open(context.Context, Job, workload.Part) (Source, error) {
	return Source{Operations: operations, Connect: s.server.Connect, Close: func() error { return nil }}, nil
}

// slow is a line on which everything is late.
type slow struct {
	io.Writer
	by time.Duration
}

func (s slow) Write(data []byte) (int, error) {
	time.Sleep(s.by)
	return s.Writer.Write(data)
}

// mutable is a process's mouth: closed, it speaks into the void and hangs.
type mutable struct {
	io.Writer
	mute chan struct{}
}

func (m mutable) Write(data []byte) (int, error) {
	select {
	case <-m.mute:
		return len(data), nil
	default:
		return m.Writer.Write(data)
	}
}

var operations = []string{"read", "write"}

// outcome is a load and its seconds.
type outcome struct {
	load.Summary
	seconds []load.Second
}

// play runs a load from so many loaders in a bubble, beside what happens meanwhile.
func play(t *testing.T, loaders int, spec load.Spec, s *stage, happens func(context.Context, context.CancelFunc)) outcome {
	t.Helper()
	var out outcome
	synctest.Test(t, func(t *testing.T) {
		s.processes = nil
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		team := Team{Version: "test"}
		for range loaders {
			team.Loaders = append(team.Loaders, Loader{Machine: s, Program: "plimsoll"})
		}
		spec := spec
		spec.Operations = operations
		issue := team.Run
		if loaders == 0 {
			spec.NewAlarm = load.NewTimer
			issue = load.Here(s.server.Connect)
		}
		var happening sync.WaitGroup
		if happens != nil {
			happening.Go(func() { happens(ctx, stop) })
		}
		var err error
		out.Summary, err = issue(ctx, spec, func(s load.Second) { out.seconds = append(out.seconds, s) })
		if err != nil {
			t.Fatal(err)
		}
		stop()
		happening.Wait()
	})
	out.check(t)
	return out
}

// check is what must hold of every load.
func (o outcome) check(t *testing.T) {
	t.Helper()
	end := o.Start
	var sum series.Tally
	for _, s := range o.seconds {
		if !s.Start.Equal(end) {
			t.Errorf("a second starts at %v, the one before ended at %v", s.Start, end)
		}
		end = s.Start.Add(s.Length)
		for _, i := range s.Operations {
			if !i.Balanced() || !i.Start.Equal(s.Start) {
				t.Errorf("a second of %s at %v: %+v", i.Operation, i.Start, i.Tally)
			}
			sum = sum.Plus(i.Tally)
		}
	}
	if sum != o.All.Tally || !sum.Balanced() {
		t.Errorf("the seconds have %+v, the whole %+v", sum, o.All.Tally)
	}
}

func poisson(t *testing.T, rate float64) load.Schedule {
	t.Helper()
	s, err := load.Poisson(7, load.Constant(rate))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// due is how many operations a schedule asks for before a moment.
func due(s load.Schedule, before time.Duration) (n int64) {
	next := s.Arrivals()
	for {
		if at, ok := next(); !ok || at >= before {
			return n
		}
		n++
	}
}

func buckets(s series.Snapshot) (all []int64) {
	for d, n := range s.Buckets() {
		all = append(all, int64(d), n)
	}
	return all
}

// changing is a server whose service time depends on nothing but the moment: what is due then is answered alike, whoever sends it.
func changing(begin time.Time) *loadtest.Server {
	return &loadtest.Server{
		Service: func(int) time.Duration {
			// Some moments are a thousand times slower than others.
			at := time.Since(begin) / time.Millisecond
			return (100 + (at*7919)%997*(1+at%13)) * 10 * time.Microsecond
		},
		Mix: func(int) func() int { return func() int { return 0 } },
	}
}

// The same load from one process, and from one, two or three loaders: the same percentiles, because the same histograms, bucket
// for bucket. Where operations wait for a connection that holds for one loader: several have a line of their own each.
func TestSeveralLoadersMeasureWhatOneDoes(t *testing.T) {
	for _, c := range []struct {
		connections int
		loaders     []int
		waits       bool
	}{{90, []int{1, 2, 3}, false}, {7, []int{1}, true}} {
		spec := load.Spec{Connections: c.connections, Duration: 8 * time.Second, Schedule: poisson(t, 150)}
		one := changingly(t, 0, spec)
		if waits := one.All.Wait.Quantile(0.9) > 10*time.Millisecond; waits != c.waits || one.All.Response.Quantile(0.99) < 2*one.All.Response.Quantile(0.5) {
			t.Errorf("%d connections: wait p90 %v, response p50 %v, p99 %v: nothing would be told apart", c.connections,
				one.All.Wait.Quantile(0.9), one.All.Response.Quantile(0.5), one.All.Response.Quantile(0.99))
		}
		for _, n := range c.loaders {
			changingly(t, n, spec).same(t, one, n)
		}
	}
}

// changingly plays a load on a changing server. The service time counts from the beginning of the load, which is told by its
// first operation.
func changingly(t *testing.T, loaders int, spec load.Spec) outcome {
	t.Helper()
	var begin time.Time
	var first sync.Once
	s := &stage{server: &loadtest.Server{}}
	s.server.Service = func(int) time.Duration {
		first.Do(func() { begin = time.Now().Add(-due1(spec.Schedule)) })
		return changing(begin).Service(0)
	}
	out := play(t, loaders, spec, s, nil)
	if want := due(spec.Schedule, spec.Duration); out.All.Done != want {
		t.Errorf("%d loaders: %+v, %d were due", loaders, out.All.Tally, want)
	}
	return out
}

// same is what must be alike in a load from so many loaders and in that from one process.
func (o outcome) same(t *testing.T, one outcome, loaders int) {
	t.Helper()
	if len(o.Broken) > 0 {
		t.Errorf("%d loaders: %q", loaders, o.Broken)
	}
	if o.All.Tally != one.All.Tally {
		t.Errorf("%d loaders: %+v, one process %+v", loaders, o.All.Tally, one.All.Tally)
	}
	for _, h := range []struct {
		name      string
		here, one series.Snapshot
	}{
		{"response", o.All.Response, one.All.Response}, {"service", o.All.Service, one.All.Service}, {"wait", o.All.Wait, one.All.Wait},
	} {
		if !slices.Equal(buckets(h.here), buckets(h.one)) {
			t.Errorf("%d loaders: the %s times are not those of one process: p99 %v, %v", loaders, h.name, h.here.Quantile(0.99), h.one.Quantile(0.99))
		}
	}
	if len(o.seconds) != len(one.seconds) {
		t.Errorf("%d loaders: %d seconds, one process %d", loaders, len(o.seconds), len(one.seconds))
	}
	for i, second := range o.seconds {
		if len(second.Guard.Loaders) != loaders {
			t.Errorf("second %d has the guard's readings of %d loaders, want %d", i, len(second.Guard.Loaders), loaders)
		}
	}
}

// due1 is when a schedule's first operation is due.
func due1(s load.Schedule) time.Duration {
	at, _ := s.Arrivals()()
	return at
}

// A loader that dies takes its operations with it, and each of them is accounted for.
func TestDeadLoader(t *testing.T) {
	for name, die := range map[string]func(*process){
		"killed": func(p *process) { p.crash() },
		"silent": func(p *process) { close(p.mute) },
	} {
		for _, schedule := range []load.Schedule{poisson(t, 50), nil} {
			s := &stage{server: &loadtest.Server{Service: func(int) time.Duration { return 50 * time.Millisecond }}}
			spec := load.Spec{Connections: 40, Duration: 40 * time.Second, Schedule: schedule}
			out := play(t, 2, spec, s, func(context.Context, context.CancelFunc) {
				time.Sleep(14 * time.Second)
				die(s.processes[1])
			})
			lost := out.All.ErrorClasses[classLost]
			if len(out.Broken) != 1 || !strings.Contains(out.Broken[0], "was lost") || out.Examples[classLost] == "" {
				t.Errorf("%s: %q", name, out.Broken)
			}
			if schedule == nil {
				if lost != 20 {
					t.Errorf("%s: of a closed loop %d operations are lost, want one for each of 20 connections", name, lost)
				}
				continue
			}
			if want := due(schedule, spec.Duration); out.All.Scheduled != want {
				t.Errorf("%s: %d operations are accounted for, %d were due", name, out.All.Scheduled, want)
			}
			if most := due(schedule, spec.Duration)/2 + 1; lost < most/2 || lost > most || out.All.Errors != lost {
				t.Errorf("%s: %d operations lost, errors %v", name, lost, out.All.ErrorClasses)
			}
			if last := out.seconds[len(out.seconds)-2].Guard; last.Lost != 20 || len(last.Loaders) != 1 {
				t.Errorf("%s: the guard sees %d connections lost and %d loaders", name, last.Lost, len(last.Loaders))
			}
		}
	}
}

func TestAllLoadersDead(t *testing.T) {
	s := &stage{server: &loadtest.Server{Service: func(int) time.Duration { return 5 * time.Millisecond }}}
	spec := load.Spec{Connections: 40, Duration: time.Hour, Schedule: poisson(t, 100)}
	out := play(t, 2, spec, s, func(context.Context, context.CancelFunc) {
		time.Sleep(10 * time.Second)
		s.processes[0].crash()
		time.Sleep(5 * time.Second)
		s.processes[1].crash()
	})
	if len(out.Broken) != 2 || out.Length > 16*time.Second || out.All.Scheduled != due(spec.Schedule, out.Length) {
		t.Errorf("%v: %+v, %d due, %q", out.Length, out.All.Tally, due(spec.Schedule, out.Length), out.Broken)
	}
}

// When the one who asked for the load has enough, all loaders stop.
func TestStop(t *testing.T) {
	s := &stage{server: &loadtest.Server{Service: func(int) time.Duration { return 5 * time.Millisecond }}}
	out := play(t, 3, load.Spec{Connections: 40, Schedule: poisson(t, 100)}, s, func(_ context.Context, stop context.CancelFunc) {
		time.Sleep(15 * time.Second)
		stop()
	})
	if len(out.Broken) > 0 || out.Length < 10*time.Second || out.Length > 16*time.Second || out.All.Done < 1000 || out.All.Errors > 0 {
		t.Errorf("%v: %+v, %q", out.Length, out.All.Tally, out.Broken)
	}
}

// A server that hangs at the end is given up by every loader after the load's own grace.
func TestStopOfAHangingServer(t *testing.T) {
	s := &stage{server: &loadtest.Server{Service: func(int) time.Duration { return 5 * time.Millisecond }}}
	out := play(t, 2, load.Spec{Connections: 10, Duration: 10 * time.Second, Schedule: poisson(t, 100)}, s, func(context.Context, context.CancelFunc) {
		time.Sleep(9 * time.Second)
		s.server.Freeze()
		time.Sleep(time.Minute)
		s.server.Thaw()
	})
	if len(out.Broken) > 0 || out.All.ErrorClasses[load.ClassTimeout] != 10 || out.All.Scheduled != due(poisson(t, 100), 10*time.Second) {
		t.Errorf("%+v, %v, %q", out.All.Tally, out.All.ErrorClasses, out.Broken)
	}
}

func TestClocks(t *testing.T) {
	for _, c := range []struct {
		name, want string
		late       time.Duration
	}{
		{"agree", "", 2 * time.Millisecond},
		{"are known too badly", "is known only to within 20ms", 40 * time.Millisecond},
	} {
		s := &stage{late: c.late, server: &loadtest.Server{Service: func(int) time.Duration { return time.Millisecond }}}
		out := play(t, 2, load.Spec{Connections: 4, Duration: 3 * time.Second, Schedule: poisson(t, 100)}, s, nil)
		broken := strings.Join(out.Broken, "; ")
		if c.want == "" && broken != "" || c.want != "" && !strings.Contains(broken, c.want) {
			t.Errorf("clocks that %s: %q", c.name, broken)
		}
	}
	// A clock that gains a hundredth.
	s := &stage{server: &loadtest.Server{Service: func(int) time.Duration { return time.Millisecond }}}
	var first sync.Once
	var begin time.Time
	s.drift = func() time.Duration {
		first.Do(func() { begin = time.Now() })
		return time.Since(begin) / 100
	}
	out := play(t, 1, load.Spec{Connections: 4, Duration: 30 * time.Second, Schedule: poisson(t, 100)}, s, nil)
	if len(out.Broken) != 1 || !strings.Contains(out.Broken[0], "drifted apart by 30") {
		t.Errorf("a clock that gains: %q", out.Broken)
	}
}

// What is wrong with a job is an error, and everything that was started has ended.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{server: &loadtest.Server{}}
		two := []Loader{{Machine: s}, {Machine: s}}
		spec := load.Spec{Operations: operations, Connections: 4, Duration: time.Second}
		for _, c := range []struct {
			name, want string
			team       Team
			change     func(*load.Spec)
		}{
			{"another version", "it runs Plimsoll test, and this is newer: install the same", Team{Loaders: two, Version: "newer"}, nil},
			{"other operations", "has the operations [read write] here", Team{Loaders: two, Version: "test"}, func(s *load.Spec) { s.Operations = []string{"scan"} }},
			{"no loader", "no loader", Team{Version: "test"}, nil},
			{"nothing to do", "0 connections", Team{Loaders: two, Version: "test"}, func(s *load.Spec) { s.Connections = 0 }},
			{"a schedule of one's own", "cannot be divided among several processes", Team{Loaders: two, Version: "test"}, func(s *load.Spec) { s.Schedule = bare{} }},
			{"a machine that cannot be talked to", "take no input while they run", Team{Loaders: []Loader{{Machine: deaf{}}}, Version: "test"}, nil},
		} {
			spec := spec
			if c.change != nil {
				c.change(&spec)
			}
			if _, err := c.team.Run(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		s.server.Kill()
		if _, err := (Team{Loaders: two, Version: "test"}).Run(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), "loader ") || !strings.Contains(err.Error(), "simulated unavailable") {
			t.Errorf("no server: %v", err)
		}
	})
}

type deaf struct{ infra.Machine }

func (deaf) Name() string { return "deaf" }

type bare struct{}

func (bare) Arrivals() func() (time.Duration, bool) { return nil }
func (bare) Rate(time.Duration) float64             { return 1 }
func (bare) Recipe() (load.Recipe, bool)            { return load.Recipe{}, false }

// A load of fewer connections than there are loaders is issued by as many.
func TestFewConnections(t *testing.T) {
	s := &stage{server: &loadtest.Server{Service: func(int) time.Duration { return 10 * time.Millisecond }}}
	out := play(t, 5, load.Spec{Connections: 2, Duration: 5 * time.Second}, s, nil)
	if len(s.processes) != 2 || out.All.Done < 990 || out.All.Done > 1001 {
		t.Errorf("%d processes did %d operations", len(s.processes), out.All.Done)
	}
}
