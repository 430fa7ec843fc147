package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/cql"
	"plimsoll/engine/cql/bare"
)

// cqlInFlight is how many operations are under way at once.
const cqlInFlight = 64

// cqlFields is how many fields of 100 characters the records have that are read: one, as in a point select, and ten, as in YCSB.
var cqlFields = []int{1, 10}

// cqlWorkload is what both read, by keys each of which is as likely as any other.
func cqlWorkload(fields int) []string {
	return []string{
		"--workload", "kv", "--param", "read=100", "--param", "distribution=uniform", "--param", "records=20000", "--param", "fields=" + strconv.Itoa(fields),
	}
}

// cqlReads runs the reference Go driver, used bare, and Plimsoll in turn, on the same records.
func cqlReads(ctx context.Context, o options) error {
	target, release, err := o.server(ctx, cassandra)
	if err != nil {
		return err
	}
	defer release()
	for _, fields := range cqlFields {
		if err := o.compareCQL(ctx, target, fields); err != nil {
			return err
		}
	}
	return nil
}

func (o options) compareCQL(ctx context.Context, target engine.Target, fields int) error {
	workload := cqlWorkload(fields)
	if _, err := o.plimsollCQL(ctx, "prepare", target, workload...); err != nil {
		return err
	}
	defer o.plimsollCQL(context.WithoutCancel(ctx), "cleanup", target, append(workload, "--yes")...) //nolint:errcheck // the server goes away, or says itself what stands in the way
	ours := func() (outcome, error) { return o.cqlRun(ctx, target, workload) }
	theirs := func() (outcome, error) { return bareRun(ctx, target, fields, o.seconds) }
	for range 2 { // the server compiles what is hot: runs that are not counted
		for _, run := range []func() (outcome, error){theirs, ours} {
			if _, err := run(); err != nil {
				return err
			}
		}
	}
	return o.alternate(fmt.Sprintf("%d in flight, fields of a record: %d", cqlInFlight, fields), "bare driver", "op", theirs, ours)
}

// plimsollCQL runs the binary as a user would.
func (o options) plimsollCQL(ctx context.Context, verb string, target engine.Target, more ...string) ([]byte, error) {
	url := fmt.Sprintf("cql://%s@%s/%s", target.User, target.Addresses[0], target.Namespace)
	cmd := exec.CommandContext(ctx, o.plimsoll, append([]string{"load", verb, "--target", url, "--password-env", "BENCH_PASSWORD"}, more...)...)
	cmd.Env = append(os.Environ(), "BENCH_PASSWORD="+string(target.Password))
	out, err := cmd.Output()
	if err != nil {
		return nil, said("plimsoll", err)
	}
	return out, nil
}

func (o options) cqlRun(ctx context.Context, target engine.Target, workload []string) (outcome, error) {
	out, err := o.plimsollCQL(ctx, "run", target, append(workload, "--connections", strconv.Itoa(cqlInFlight),
		"--duration", fmt.Sprintf("%ds", o.seconds), "--report-interval", "0", "--json")...)
	if err != nil {
		return outcome{}, err
	}
	var sum struct {
		Errors     int64   `json:"errors"`
		Throughput float64 `json:"throughput"`
		CPU        float64 `json:"cpu_us_per_op"`
		MaxRSS     int64   `json:"max_rss_bytes"`
	}
	if err := json.Unmarshal(out, &sum); err != nil {
		return outcome{}, fmt.Errorf("read what plimsoll said: %w", err)
	}
	if sum.Errors > 0 {
		return outcome{}, fmt.Errorf("plimsoll had %d errors", sum.Errors)
	}
	return outcome{perSecond: sum.Throughput, cpu: sum.CPU, rss: sum.MaxRSS}, nil
}

// bareVariable makes this program the bare driver: a process of its own, as Plimsoll is one.
const bareVariable = "BENCH_BARE"

func bareRun(ctx context.Context, target engine.Target, fields, seconds int) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	url := fmt.Sprintf("cql://%s@%s/%s", target.User, target.Addresses[0], target.Namespace)
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), bareVariable+"="+url, "BENCH_PASSWORD="+string(target.Password), "BENCH_SECONDS="+strconv.Itoa(seconds), "BENCH_FIELDS="+strconv.Itoa(fields))
	out, err := cmd.Output()
	if err != nil {
		return outcome{}, said("the bare driver", err)
	}
	var did bare.Outcome
	if err := json.Unmarshal(out, &did); err != nil {
		return outcome{}, fmt.Errorf("read what the bare driver did: %w", err)
	}
	n := float64(did.Operations)
	return outcome{perSecond: n / did.Took.Seconds(), cpu: micros(did.CPU) / n}, nil
}

// beBare is that process.
func beBare(ctx context.Context) error {
	target, err := engine.ParseTarget(os.Getenv(bareVariable))
	if err != nil {
		return err
	}
	target.Password = engine.Secret(os.Getenv("BENCH_PASSWORD"))
	seconds, err1 := strconv.Atoi(os.Getenv("BENCH_SECONDS"))
	fields, err2 := strconv.Atoi(os.Getenv("BENCH_FIELDS"))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	did, err := bare.Reads{
		Target: target, Keys: "SELECT y_id FROM usertable", Read: cql.Engine{}.RecordTable("usertable", fields).Read, Columns: fields + 1,
		InFlight: cqlInFlight, Length: time.Duration(seconds) * time.Second,
	}.Run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(did)
}
