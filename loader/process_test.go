package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/load"
	"plimsoll/load/loadtest"
	"plimsoll/workload"
)

// TestMain lets this program be started as a loader, whose server answers after a millisecond.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "load" && os.Args[2] == "serve" {
		server := &loadtest.Server{Service: func(int) time.Duration { return time.Millisecond }}
		open := func(_ context.Context, job Job, part workload.Part) (Source, error) {
			if string(job.Target.Password) != "tell nobody" || job.Workload != "null" || part.Of != 2 {
				return Source{}, fmt.Errorf("the job did not arrive: %+v, %+v", job, part)
			}
			return Source{Operations: operations, Connect: server.Connect, Close: func() error { return nil }}, nil
		}
		if err := (Server{Open: open, Version: "test"}).Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// processes is two real ones.
func processes(t *testing.T) (Team, infra.Machine) {
	t.Helper()
	machine, err := local.New()
	if err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	one := Loader{Machine: machine, Program: self}
	team := Team{Loaders: []Loader{one, one}, Version: "test", Mark: t.TempDir()}
	team.Job = Job{Workload: "null"}
	team.Job.Target.Password = "tell nobody"
	t.Cleanup(func() {
		left, err := machine.Find(context.Background(), team.Mark)
		if err != nil || len(left) > 0 {
			t.Errorf("%d processes are left, %v", len(left), err)
		}
	})
	return team, machine
}

// Two processes on a real clock do every operation of the schedule, each once.
func TestProcessesIssueTheWholeSchedule(t *testing.T) {
	team, _ := processes(t)
	spec := load.Spec{Operations: operations, Connections: 32, Duration: 3 * time.Second, Schedule: poisson(t, 300), Grace: time.Minute}
	out := outcome{}
	var err error
	out.Summary, err = team.Run(t.Context(), spec, func(s load.Second) { out.seconds = append(out.seconds, s) })
	if err != nil {
		t.Fatal(err)
	}
	out.check(t)
	if want := due(spec.Schedule, spec.Duration); out.All.Scheduled != want || out.All.Errors > 0 || out.All.Response.Count() != out.All.Done {
		t.Errorf("%+v, %d were due", out.All.Tally, want)
	}
	if fastest := out.All.Service.Min(); fastest < time.Millisecond || out.CPU == 0 || out.MaxRSS == 0 {
		t.Errorf("service from %v on, %v of processor time, %v of memory", fastest, out.CPU, out.MaxRSS)
	}
}

// One that is killed is accounted for; the other goes on.
func TestKilledProcess(t *testing.T) {
	team, machine := processes(t)
	spec := load.Spec{Operations: operations, Connections: 32, Duration: 4 * time.Second, Schedule: poisson(t, 300), Grace: time.Minute}
	kill := func() error {
		found, err := machine.Find(t.Context(), team.Mark)
		if err != nil || len(found) == 0 {
			return err
		}
		return found[0].Signal(t.Context(), "KILL")
	}
	var out outcome
	for try := 0; out.All.ErrorClasses[classLost] == 0 && try < 10; try++ { // the kill may come when all is over
		out = outcome{}
		var err error
		out.Summary, err = team.Run(t.Context(), spec, func(s load.Second) {
			if out.seconds = append(out.seconds, s); len(out.seconds) == 1 {
				if err := kill(); err != nil && !errors.Is(err, infra.ErrGone) {
					t.Error(err)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		out.check(t)
	}
	if want := due(spec.Schedule, spec.Duration); out.All.Scheduled != want || out.All.ErrorClasses[classLost] == 0 {
		t.Errorf("%+v, %v; %d were due", out.All.Tally, out.All.ErrorClasses, want)
	}
	if len(out.Broken) == 0 || !strings.Contains(out.Broken[0], "was lost") {
		t.Errorf("%q", out.Broken)
	}
}

// What is stopped leaves nothing behind; nor does what could not begin.
func TestProcessesEnd(t *testing.T) {
	team, _ := processes(t)
	ctx, stop := context.WithCancel(t.Context())
	out := outcome{}
	var err error
	out.Summary, err = team.Run(ctx, load.Spec{Operations: operations, Connections: 8}, func(s load.Second) {
		out.seconds = append(out.seconds, s)
		stop()
	})
	if err != nil || strings.Contains(strings.Join(out.Broken, " "), "was lost") || out.All.Done == 0 {
		t.Errorf("%v, %q, %+v", err, out.Broken, out.All.Tally)
	}
	out.check(t)

	team.Job.Workload = "another"
	_, err = team.Run(t.Context(), load.Spec{Operations: operations, Connections: 8}, nil)
	if err == nil || !strings.Contains(err.Error(), "the job did not arrive") || strings.Contains(err.Error(), "tell nobody") {
		t.Errorf("%v", err)
	}
}
