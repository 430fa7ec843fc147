package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/watch"
	"plimsoll/watch/api"
	"plimsoll/watch/store"
)

// watchedProcess is plimsoll watch, as a user runs it.
type watchedProcess struct{ cmd *exec.Cmd }

// threads are its threads, by their files in /proc.
func (w watchedProcess) threads() []string {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", w.cmd.Process.Pid)) // the pattern is a good one
	return all
}

// stop ends it. One that ended by itself, or that does not end as an interrupted one does, was no watch.
func (w watchedProcess) stop() error {
	_ = w.cmd.Process.Signal(os.Interrupt) // of one that ended, its status tells
	err := w.cmd.Wait()
	if code := w.cmd.ProcessState.ExitCode(); code == 0 || code == interrupted {
		return nil
	}
	return fmt.Errorf("the watch ended by itself: %w", err)
}

// interrupted is the exit code of a program that Ctrl-C ended.
const interrupted = 130

// watchProcess watches one server, with settings.
func (o options) watchProcess(ctx context.Context, folder string, target engine.Target, settings string, flags ...string) (watchedProcess, error) {
	return o.watchOf(ctx, folder, "clusters:\n"+listed("bench", target), settings, target, flags...)
}

// listed is a cluster of one node in an inventory.
func listed(cluster string, target engine.Target) string {
	return fmt.Sprintf("  %s: {engine: mysql, environment: lab, user: %s, password: {env: BENCH_PASSWORD}, nodes: [{name: n1, address: %q}]}\n", cluster, target.User, target.Addresses[0])
}

// watchOf watches what an inventory names, whose password is the target's.
func (o options) watchOf(ctx context.Context, folder, inventory, settings string, target engine.Target, flags ...string) (watchedProcess, error) {
	if settings != "" { // an empty file is refused
		if err := os.WriteFile(filepath.Join(folder, "watch.yaml"), []byte(settings), 0o600); err != nil {
			return watchedProcess{}, err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "plimsoll.yaml"), []byte(inventory), 0o600); err != nil {
		return watchedProcess{}, err
	}
	binary, err := filepath.Abs(o.plimsoll)
	if err != nil {
		return watchedProcess{}, err
	}
	cmd := exec.CommandContext(ctx, binary, append([]string{"watch", "--quiet"}, flags...)...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "BENCH_PASSWORD="+string(target.Password), "PLIMSOLL_HOME="+filepath.Join(folder, "home"))
	return watchedProcess{cmd}, cmd.Start()
}

// watchInstances says how many instances one core can watch: against servers of recorded answers, in a process of their own.
func watchInstances(ctx context.Context, o options) error { return o.onRecorded(ctx, o.instancesOn) }

func (o options) instancesOn(ctx context.Context, folder string, target engine.Target) error {
	kept, err := store.Open(filepath.Join(folder, "series"), store.Options{})
	if err != nil {
		return err
	}
	defer kept.Close() //nolint:errcheck // it is thrown away
	const instances = 100
	var sources []watch.Source
	for n := range instances {
		name := fmt.Sprintf("c%d/n1", n)
		source, err := catalog.WatchSource(watch.Instance{Name: name, Cluster: fmt.Sprintf("c%d", n), Node: "n1", Cores: 4},
			engine.Target{Engine: "mysql", Addresses: target.Addresses, User: target.User, Password: target.Password}, nil)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}
	var mu sync.Mutex
	var samples int
	w := watch.New(watch.Config{Sources: sources, Log: slog.New(slog.DiscardHandler), Keep: func(ctx context.Context, s []watch.Sample) error {
		mu.Lock()
		samples += len(s)
		mu.Unlock()
		return kept.Append(ctx, s)
	}})
	const settle = 15 * time.Second // the first reading reads everything
	length := 3 * time.Duration(o.seconds) * time.Second
	running, cancel := context.WithTimeout(ctx, settle+length)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(running) }()
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	mu.Lock()
	before := samples
	mu.Unlock()
	cpu, begun := processorTime(), time.Now()
	if err := <-ended; err != nil {
		return err
	}
	cpu, took := processorTime()-cpu, time.Since(begun)
	for _, i := range w.Fleet().Instances {
		if i.State != watch.Up {
			return fmt.Errorf("%s is %s: %s; the server of recorded answers is not what the watch expects", i.Name, i.State, i.Why)
		}
	}
	fmt.Printf("%d instances of recorded answers for %s: %.2f cores, so **%.0f instances a core**, at %.0f series a second of each. Goal: 500.\n\n",
		instances, took.Round(time.Second), cpu.Seconds()/took.Seconds(), instances*took.Seconds()/cpu.Seconds(), float64(samples-before)/took.Seconds()/instances)
	return nil
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchQuery asks for a day of forty series as Grafana does.
func watchQuery(ctx context.Context, _ options) error {
	folder, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	kept, err := store.Open(folder, store.Options{})
	if err != nil {
		return err
	}
	defer kept.Close() //nolint:errcheck // it is thrown away
	end := time.Now().Truncate(time.Minute)
	for at := end.Add(-25 * time.Hour); at.Before(end); at = at.Add(time.Second) {
		var r watch.Reading
		for n := range 40 {
			r.Add(at, "x", 10+math.Sin(float64(at.Unix())/600+float64(n)), "n", fmt.Sprint(n))
		}
		if err := kept.Append(ctx, r.Samples); err != nil {
			return err
		}
	}
	handler := (&api.API{Store: kept}).Handler()
	const step = 180 * time.Second
	var took, busy []float64
	for n := range 41 { // a page that asks again, while the day moves on by a step every fourth time
		to := end.Add(-time.Duration((40-n)/4) * step).Truncate(step) // as Grafana does
		form := url.Values{"query": {"avg_over_time(x[3m])"}, "start": {fmt.Sprint(to.Add(-24 * time.Hour).Unix())}, "end": {fmt.Sprint(to.Unix())}, "step": {"180"}}
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/api/v1/query_range?"+form.Encode(), nil)
		begun, cpu := time.Now(), processorTime()
		handler.ServeHTTP(w, r)
		busy = append(busy, (processorTime()-cpu).Seconds()*1000)
		if w.Code != 200 || strings.Count(w.Body.String(), `"metric"`) != 40 {
			return fmt.Errorf("the query is answered %d", w.Code)
		}
		took = append(took, time.Since(begun).Seconds()*1000)
	}
	first := took[0]
	took = slices.Sorted(slices.Values(took[1:]))
	fmt.Printf("Query of 24 h × 40 series of one second, at 480 points: the first %.0f ms (%.0f ms of processor time); asked again, while the day moves on: median %.0f ms (%.0f ms of processor time), p95 **%.0f ms**. Goal of p95: 100 ms.\n\n", first, busy[0], median(took), median(busy[1:]), took[len(took)*95/100])
	return nil
}
