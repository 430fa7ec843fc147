package loadcmd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/load"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

type runOptions struct {
	options
	connections            int
	rate, arrivals, reads  string
	from                   []string
	duration, warmup       time.Duration
	limit, timeout, report time.Duration
	maxBehind              time.Duration
	seed                   uint64
	json, yes              bool
}

func newRun(c console.Streams) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Issue a workload's operations and measure them",
		Long: `Issue a workload over a number of connections (closed loop), or at a rate that does not depend on the database (open loop).
Response times count from the intended start of an operation, service times from its actual start.`,
		Example: `  plimsoll load run --target lab:mariadb --workload oltp_read_write --connections 16 --duration 30s
  plimsoll load run --target mysql://app@db1:3306/shop --password-env DB_PASSWORD --workload orders.yaml --rate 500 --duration 5m --json
  plimsoll load run --target lab:mariadb --workload oltp_point_select --rate '50% of max' --duration 1m`,
		Args: console.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags().Changed); err != nil {
				return err
			}
			return runLoad(cmd.Context(), c, o)
		},
	}
	o.add(cmd)
	f := cmd.Flags()
	f.IntVar(&o.connections, "connections", 0, "how many connections; with --rate, at most (default 16, with --rate 64)")
	f.StringVar(&o.rate, "rate", "", "operations per second: 500, 50% of max, or a list of stages as in a trial")
	f.StringVar(&o.arrivals, "arrivals", "poisson", "with --rate: poisson or uniform")
	f.StringSliceVar(&o.from, "from", nil, "machines on which loader processes issue the load together: ssh:HOST, machines of plimsoll.yaml, or local (default: this process only)")
	f.StringVar(&o.reads, "reads", string(spec.ReadPrimary), "where operations that only read go: primary, or replicas (those addresses of the target that answer and do not lag too far)")
	f.DurationVar(&o.maxBehind, "max-behind", 0, "with --reads replicas: the largest lag of a replica that is read (default 5s)")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "how long to measure")
	f.DurationVar(&o.warmup, "warmup", 0, "how long to warm up before measuring")
	f.DurationVar(&o.limit, "limit", 0, "response time above which an operation counts as late, or is skipped unsent")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "an operation that takes longer counts as an error")
	f.DurationVar(&o.report, "report-interval", time.Second, "how often to print progress; 0: never")
	f.Uint64Var(&o.seed, "seed", 0, "random seed (default: drawn and printed)")
	f.BoolVar(&o.yes, "yes", false, "do not ask before putting a cluster in production under load")
	f.BoolVar(&o.json, "json", false, "end with one JSON object on standard output")
	return cmd
}

// check refuses options that say nothing, or that do not go together.
func (o *runOptions) check(given func(flag string) bool) error {
	if given("connections") && o.connections < 1 {
		return console.UsageError{Text: fmt.Sprintf("--connections %d, expected 1 or more", o.connections)}
	}
	for flag, d := range map[string]time.Duration{"duration": o.duration, "timeout": o.timeout, "limit": o.limit, "warmup": o.warmup} {
		if given(flag) && d <= 0 {
			return console.UsageError{Text: fmt.Sprintf("--%s %v, expected a time such as 30s", flag, d)}
		}
	}
	if given("arrivals") && o.rate == "" {
		return console.UsageError{Text: "--arrivals without --rate: a closed loop has no arrivals", Hint: "add --rate, such as --rate 500"}
	}
	return nil
}

func runLoad(ctx context.Context, c console.Streams, o runOptions) error {
	issue, err := o.issue()
	if err != nil {
		return err
	}
	target, db, w, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := o.agree(c, o.yes, "Put it under load"); err != nil {
		return err
	}
	var readers *workload.Readers
	if issue.Reads == spec.ReadReplicas {
		if readers, err = readReplicas(ctx, c, target, w, issue); err != nil {
			return err
		}
		defer func() { _ = readers.Close() }() // the clients have ended
	}
	if err := w.Adopt(ctx, db); err != nil {
		return o.typed().Explain(fmt.Errorf("check the data of %s: %w", w.Name(), err))
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>1 | 1
	}
	from, err := o.issuer(target, db, w, issue, readers)
	if err != nil {
		return err
	}
	run, err := from(o.seed)
	if err != nil {
		return err
	}
	spec, err := o.spec(ctx, c, issue, run, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "%s at %s, %s, seed %d\n", w.Name(), o.target, describeIssue(issue), o.seed)
	if err := warmUp(ctx, from, spec, o.warmup, o.seed+1); err != nil {
		return err
	}
	watch, before := newSecondsPrinter(c, o.report), answered(readers)
	summary, err := run(ctx, spec, watch.second)
	if err != nil {
		return err
	}
	doubts := load.Judge(watch.guard, summary.All.Response)
	for _, reason := range doubts {
		fmt.Fprintln(c.Err, "warning:", reason)
	}
	for _, advice := range load.Advice(doubts) {
		fmt.Fprintln(c.Err, "hint:", advice)
	}
	for _, reason := range summary.Broken {
		fmt.Fprintln(c.Err, "warning:", reason)
	}
	audit, err := auditLoad(ctx, c, db, w)
	if err != nil {
		return err
	}
	sum := summarize(summary, w)
	sum.Writes, sum.Reads = writesOf(audit), since(before, answered(readers))
	if err := showLoad(c, sum, summary, o.json); err != nil {
		return err
	}
	if len(summary.Broken) > 0 {
		return errors.New("the measurement is not valid: " + summary.Broken[0])
	}
	return ctx.Err()
}

// warmUp issues a load for a while, whose results nobody looks at.
func warmUp(ctx context.Context, from issuer, spec load.Spec, d time.Duration, seed uint64) error {
	if d <= 0 {
		return nil
	}
	run, err := from(seed)
	if err == nil {
		spec.Duration = d
		_, err = run(ctx, spec, nil)
	}
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	return nil
}

// spec is the load as it is run; a share of the maximum finds the maximum first.
func (o *runOptions) spec(ctx context.Context, c console.Streams, issue spec.Load, run load.Runner, w workload.Workload) (load.Spec, error) {
	spec := load.Spec{
		Operations: w.Operations(), Connections: issue.Connections, Duration: o.duration, Limit: issue.Limit, Timeout: issue.Timeout,
	}
	if !issue.Open() {
		return spec, nil
	}
	var most float64
	if issue.Rate.Share > 0 {
		fmt.Fprintln(c.Err, "finding the maximum rate")
		search := spec
		search.Duration = 0
		found, err := load.FindMax(ctx, search, run, func(l load.Level) {
			fmt.Fprintf(c.Err, "  %4d connections: %.0f per second\n", l.Connections, l.Throughput)
		})
		if err != nil {
			return spec, err
		}
		most = found.Throughput
	}
	schedule, err := issue.Schedule(most, 0, o.seed)
	spec.Schedule = schedule
	return spec, err
}

// secondsPrinter prints seconds as they come.
type secondsPrinter struct {
	c     console.Streams
	every time.Duration
	since time.Duration
	guard []load.GuardSecond
}

func newSecondsPrinter(c console.Streams, every time.Duration) *secondsPrinter {
	return &secondsPrinter{c: c, every: every}
}

func (w *secondsPrinter) second(s load.Second) {
	w.guard = append(w.guard, s.Guard)
	if w.since += s.Length; w.every == 0 || w.since < w.every-50*time.Millisecond {
		return
	}
	w.since = 0
	all := together(s)
	times := "no answers                      " // as wide as times are
	if all.Done+all.Late > 0 {
		times = fmt.Sprintf("p50 %8.3f ms  p99 %8.3f ms", console.Milliseconds(all.Response.Quantile(0.5)), console.Milliseconds(all.Response.Quantile(0.99)))
	}
	fmt.Fprintf(w.c.Err, "%s  %8.0f/s  %s  errors %d\n", s.Start.Format("15:04:05"), all.Throughput(), times, all.Errors)
}
