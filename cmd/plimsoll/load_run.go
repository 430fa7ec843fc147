package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/trial"
	"plimsoll/workload"
)

type loadRunOptions struct {
	loadOptions
	connections            int
	rate, arrivals         string
	duration, warmup       time.Duration
	limit, timeout, report time.Duration
	seed                   uint64
	json                   bool
}

func newLoadRun(c console) *cobra.Command {
	var o loadRunOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Issue a workload's operations and measure them",
		Long: `Issue a workload by a number of connections (closed loop), or at a rate whatever the database does (open loop).
Response times count from the intended start of an operation, service times from its actual start.`,
		Example: `  plimsoll load run --target lab:mariadb --workload oltp_read_write --connections 16 --duration 30s
  plimsoll load run --target mysql://app@db1:3306/shop --password-env DB_PASSWORD --workload orders.yaml --rate 500 --duration 5m --json
  plimsoll load run --target lab:mariadb --workload oltp_point_select --rate '50% of max' --duration 1m`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runLoad(cmd.Context(), c, o) },
	}
	o.add(cmd)
	f := cmd.Flags()
	f.IntVar(&o.connections, "connections", 0, "how many connections; with --rate, at most (default 16, with --rate 64)")
	f.StringVar(&o.rate, "rate", "", "operations per second: 500, 50% of max, or a list of stages as in a trial")
	f.StringVar(&o.arrivals, "arrivals", "poisson", "with --rate: poisson or uniform")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "how long to measure")
	f.DurationVar(&o.warmup, "warmup", 0, "how long to run before that")
	f.DurationVar(&o.limit, "limit", 0, "response time above which an operation is late, or skipped unsent")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "an operation under way longer counts as an error")
	f.DurationVar(&o.report, "report-interval", time.Second, "how often to print what is going on; 0: never")
	f.Uint64Var(&o.seed, "seed", 0, "of all random choices (default drawn, and printed)")
	f.BoolVar(&o.json, "json", false, "end with one JSON object on standard output")
	return cmd
}

func runLoad(ctx context.Context, c console, o loadRunOptions) error {
	issue, err := o.issue()
	if err != nil {
		return err
	}
	db, w, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := w.Adopt(ctx, db); err != nil {
		return fmt.Errorf("look at the data of %s: %w", w.Name(), err)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>1 | 1
	}
	spec, err := o.spec(ctx, c, issue, db, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "%s at %s, %s, seed %d\n", w.Name(), o.target, describeIssue(issue), o.seed)
	if o.warmup > 0 {
		warm := spec
		warm.Duration = o.warmup
		if _, err := load.Run(ctx, warm, w.Connect(db, o.seed+1), nil); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	watch := newWatch(c, o.report)
	summary, err := load.Run(ctx, spec, w.Connect(db, o.seed), watch.second)
	if err != nil {
		return err
	}
	for _, reason := range load.Judge(watch.guard, summary.All.Response) {
		fmt.Fprintln(c.err, "warning:", reason)
	}
	if err := showLoad(c, summary, w, o.json); err != nil {
		return err
	}
	return ctx.Err()
}

// issue reads how the load is issued, by the rules of a trial.
func (o *loadRunOptions) issue() (trial.Load, error) {
	n := &document.Node{Kind: document.Mapping, File: "load run"}
	put := func(key, flag, text string) error {
		v, err := document.Parse("--"+flag, []byte(text))
		if err == nil {
			n.Put(key, v)
		}
		return err
	}
	errs := []error{put("workload", "workload", strconv.Quote(o.workload))}
	if o.connections != 0 {
		errs = append(errs, put("connections", "connections", fmt.Sprint(o.connections)))
	}
	if o.rate != "" {
		errs = append(errs, put("rate", "rate", o.rate), put("arrivals", "arrivals", o.arrivals))
	}
	if o.limit > 0 {
		errs = append(errs, put("limit", "limit", o.limit.String()))
	}
	errs = append(errs, put("timeout", "timeout", o.timeout.String()))
	if err := errors.Join(errs...); err != nil {
		return trial.Load{}, err
	}
	return trial.ReadLoad(n)
}

// spec is the load as it is run; a share of the maximum finds the maximum first.
func (o *loadRunOptions) spec(ctx context.Context, c console, issue trial.Load, db engine.Database, w workload.Workload) (load.Spec, error) {
	spec := load.Spec{
		Operations: w.Operations(), Connections: issue.Connections, Duration: o.duration, Limit: issue.Limit, Timeout: issue.Timeout,
	}
	if !issue.Open() {
		return spec, nil
	}
	var most float64
	if issue.Rate.Share > 0 {
		fmt.Fprintln(c.err, "finding the largest rate")
		search := spec
		search.Duration = 0
		found, err := load.FindMax(ctx, search, w.Connect(db, o.seed), func(l load.Level) {
			fmt.Fprintf(c.err, "  %4d connections: %.0f per second\n", l.Connections, l.Throughput)
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

func describeIssue(l trial.Load) string {
	if l.Open() {
		return fmt.Sprintf("%s arrivals, at most %d in flight", l.Arrivals, l.Connections)
	}
	return fmt.Sprintf("%d connections", l.Connections)
}

// watch prints seconds as they come.
type watch struct {
	c     console
	every time.Duration
	since time.Duration
	guard []load.GuardSecond
}

func newWatch(c console, every time.Duration) *watch { return &watch{c: c, every: every} }

func (w *watch) second(s load.Second) {
	w.guard = append(w.guard, s.Guard)
	if w.since += s.Length; w.every == 0 || w.since < w.every-50*time.Millisecond {
		return
	}
	w.since = 0
	all := together(s)
	fmt.Fprintf(w.c.err, "%s  %8.0f/s  p50 %8.3f ms  p99 %8.3f ms  errors %d\n", s.Start.Format("15:04:05"), all.Throughput(),
		ms(all.Response.Quantile(0.5)), ms(all.Response.Quantile(0.99)), all.Errors)
}
