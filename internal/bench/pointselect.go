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
	"strconv"

	"plimsoll/engine"
)

// rows is the size of the table that both read, made by sysbench itself.
const rows = 100_000

// pointSelect runs sysbench and Plimsoll in turn, on the same table, over TCP, with prepared statements.
func pointSelect(ctx context.Context, o options) error {
	if _, err := exec.LookPath("sysbench"); err != nil {
		return fmt.Errorf("sysbench is the peer to measure beside: %w", err)
	}
	target, release, err := o.server(ctx, mariadb)
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

func (o options) compare(ctx context.Context, peer sysbench, target engine.Target, connections int) error {
	ours := func() (outcome, error) { return o.plimsollRun(ctx, target, connections, o.seconds) }
	theirs := func() (outcome, error) { return peer.measure(ctx, connections, o.seconds) }
	if _, err := ours(); err != nil { // a warm-up that is not counted
		return err
	}
	return o.alternate(fmt.Sprintf("%d connections", connections), "sysbench", "query", theirs, ours)
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
	return outcome{perSecond: sum.Throughput, operations: float64(sum.Operations), cpu: micros(used(cmd)) / float64(sum.Operations), rss: sum.MaxRSS}, nil
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
	return outcome{perSecond: rate, operations: n, cpu: micros(used(cmd)) / n}, errors.Join(err1, err2)
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
