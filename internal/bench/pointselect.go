package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
)

// rows is the size of the table that both read, made by sysbench itself.
const rows = 100_000

// pointSelect runs sysbench and Plimsoll in turn, on the same table, over TCP, with prepared statements.
func pointSelect(ctx context.Context, o options) error {
	if _, err := exec.LookPath("sysbench"); err != nil {
		return fmt.Errorf("sysbench is the peer to measure beside: %w", err)
	}
	target, release, err := o.server(ctx)
	if err != nil {
		return err
	}
	defer release()
	peer := sysbench{target}
	if _, err := peer.run(ctx, "prepare", 4, 0); err != nil {
		return err
	}
	defer peer.run(context.WithoutCancel(ctx), "cleanup", 1, 0) //nolint:errcheck // the server goes away, or says itself what stands in the way
	for _, connections := range []int{16, 64} {
		if err := o.compare(ctx, peer, target, connections); err != nil {
			return err
		}
	}
	return nil
}

// outcome is one run of one of the two.
type outcome struct {
	perSecond float64
	cpu       float64 // µs of the client's process per query
	rss       int64   // bytes at most
}

func (o options) compare(ctx context.Context, peer sysbench, target engine.Target, connections int) error {
	ours := func() (outcome, error) { return o.plimsollRun(ctx, target, connections, o.seconds) }
	theirs := func() (outcome, error) { return peer.measure(ctx, connections, o.seconds) }
	if _, err := ours(); err != nil { // a warm-up that is not counted
		return err
	}
	fmt.Printf("%d connections, %d s a run\n\n| pair | sysbench q/s | plimsoll q/s | ratio | sysbench µs | plimsoll µs | ratio |\n|---|---|---|---|---|---|---|\n", connections, o.seconds)
	var throughput, cpu []float64
	var most int64
	for pair := range o.pairs {
		first, second := theirs, ours
		if pair%2 == 1 {
			first, second = ours, theirs
		}
		a, err := first()
		if err != nil {
			return err
		}
		b, err := second()
		if err != nil {
			return err
		}
		if pair%2 == 1 {
			a, b = b, a
		}
		throughput, cpu = append(throughput, b.perSecond/a.perSecond), append(cpu, b.cpu/a.cpu)
		most = max(most, b.rss)
		fmt.Printf("| %d | %.0f | %.0f | %.3f | %.2f | %.2f | %.3f |\n", pair+1, a.perSecond, b.perSecond, b.perSecond/a.perSecond, a.cpu, b.cpu, b.cpu/a.cpu)
	}
	fmt.Printf("| median | | | **%.3f** | | | **%.3f** |\n\nMemory of plimsoll: %d MiB at most.\n\n", median(throughput), median(cpu), most>>20)
	return nil
}

// plimsollRun runs the binary as a user would; its CPU is that of the whole process, as the system accounts for it.
func (o options) plimsollRun(ctx context.Context, target engine.Target, connections, seconds int) (outcome, error) {
	url := fmt.Sprintf("mysql://%s@%s/%s", target.User, target.Addresses[0], target.Namespace)
	cmd := exec.CommandContext(ctx, o.plimsoll, "load", "run", "--target", url, "--password-env", "BENCH_PASSWORD", "--workload", "oltp_point_select",
		"--connections", strconv.Itoa(connections), "--duration", fmt.Sprintf("%ds", seconds), "--report-interval", "0", "--json")
	cmd.Env = append(os.Environ(), "BENCH_PASSWORD="+string(target.Password))
	out, err := cmd.Output()
	if err != nil {
		return outcome{}, said("plimsoll", err)
	}
	var sum struct {
		Operations int64 `json:"operations"`
		Errors     int64 `json:"errors"`
		Throughput float64
		MaxRSS     int64 `json:"max_rss_bytes"`
	}
	if err := json.Unmarshal(out, &sum); err != nil {
		return outcome{}, fmt.Errorf("read what plimsoll said: %w", err)
	}
	if sum.Errors > 0 {
		return outcome{}, fmt.Errorf("plimsoll had %d errors", sum.Errors)
	}
	return outcome{sum.Throughput, micros(used(cmd)) / float64(sum.Operations), sum.MaxRSS}, nil
}

// sysbench is the peer.
type sysbench struct{ target engine.Target }

var queries = regexp.MustCompile(`queries:\s+(\d+)\s+\(([0-9.]+) per sec`)

func (s sysbench) measure(ctx context.Context, connections, seconds int) (outcome, error) {
	cmd, err := s.run(ctx, "run", connections, seconds)
	if err != nil {
		return outcome{}, err
	}
	m := queries.FindSubmatch(cmd.Stdout.(*bytes.Buffer).Bytes())
	if m == nil {
		return outcome{}, errors.New("sysbench did not say how many queries it made")
	}
	n, err1 := strconv.ParseFloat(string(m[1]), 64)
	rate, err2 := strconv.ParseFloat(string(m[2]), 64)
	return outcome{perSecond: rate, cpu: micros(used(cmd)) / n}, errors.Join(err1, err2)
}

func (s sysbench) run(ctx context.Context, verb string, threads, seconds int) (*exec.Cmd, error) {
	host, port, err := net.SplitHostPort(s.target.Addresses[0])
	if err != nil {
		return nil, err
	}
	defaults, err := s.passwordFile()
	if err != nil {
		return nil, err
	}
	defer os.Remove(defaults) //nolint:errcheck // a file of our own in the temporary folder
	cmd := exec.CommandContext(ctx, "sysbench", "oltp_point_select", "--db-driver=mysql", "--mysql-host="+host, "--mysql-port="+port,
		"--mysql-user="+s.target.User, "--mysql-db="+s.target.Namespace, "--tables=1", "--table-size="+strconv.Itoa(rows),
		"--threads="+strconv.Itoa(threads), "--time="+strconv.Itoa(seconds), "--config-file="+defaults, verb)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("sysbench %s: %w: %s", verb, err, out.String())
	}
	return cmd, nil
}

// passwordFile keeps the password out of the process list: sysbench reads its options from a file as well.
func (s sysbench) passwordFile() (string, error) {
	f, err := os.CreateTemp("", "sysbench-*.cnf")
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "mysql-password=%s\n", string(s.target.Password))
	return f.Name(), errors.Join(err, f.Close())
}

// server is the one that was named, or a MariaDB of its own until release.
func (o options) server(ctx context.Context) (target engine.Target, release func(), err error) {
	if o.target != "" {
		target, err = engine.ParseTarget(o.target)
		return target, func() {}, err
	}
	machine, err := catalog.Machine()
	if err != nil {
		return target, nil, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return target, nil, err
	}
	home, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return target, nil, err
	}
	cluster, err := lab.Up(ctx, lab.Spec{Name: "bench", Product: "mariadb", Config: map[string]string{"innodb_buffer_pool_size": "256M"}},
		lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache})
	if err != nil {
		return target, nil, err
	}
	release = func() {
		if err := cluster.Down(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.RemoveAll(home)
	}
	if target, err = makeDatabase(ctx, cluster); err != nil {
		release()
		return target, nil, err
	}
	return target, release, nil
}

func makeDatabase(ctx context.Context, cluster *lab.Cluster) (engine.Target, error) {
	target, err := cluster.Target()
	if err != nil {
		return target, err
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return target, err
	}
	db, err := e.Open(ctx, target)
	if err != nil {
		return target, err
	}
	defer db.Close()
	target.Namespace = "sbtest"
	return target, db.(engine.Namespaced).MakeNamespace(ctx, target.Namespace)
}

// used is the processor time of a finished command.
func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func said(name string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s: %w: %s", name, err, exit.Stderr)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
