package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/durable"
	"plimsoll/lab"
	"plimsoll/report"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

type trialRunOptions struct {
	spec.Options
	out  string
	json bool
	yes  bool

	breakLock string
	noise     string
}

func newTrialRun(c console) *cobra.Command {
	var o trialRunOptions
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a trial and judge it",
		Long: `Run a trial: start its cluster, load its data, measure every cell in every round, judge, and write the result folder
with report.html and report.md. The cluster is removed at the end, also after Ctrl-C; what was measured until then is kept.

Exit codes: 0 PASS, 3 FAIL, 4 INCONCLUSIVE, 5 INVALID, 1 an error or COULD NOT RUN, 2 bad input, 130 interrupted.`,
		Example: `  plimsoll trial run examples/binlog-cost/trial.yaml --quick
  plimsoll trial run examples/commit-path/trial.yaml --set cluster.engine=mysql --set phases.rounds=5 --out results/mysql`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runTrial(cmd.Context(), c, args[0], o) },
	}
	addTrialOptions(cmd, &o.Options)
	cmd.Flags().StringVar(&o.out, "out", "", "folder for the result (default results/NAME/TIME)")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask before putting a target in production under load")
	cmd.Flags().StringVar(&o.breakLock, "break-lock", "", "with a target: take over the lock of a run or a trial that no process executes any more, for this `REASON`")
	cmd.Flags().StringVar(&o.noise, "noise", "auto", "how long to measure the noise of the load before the trial, and with it the smallest difference that the trial could show: a time, auto (15s before a trial of five minutes or more) or off")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the verdict as JSON")
	return cmd
}

func addTrialOptions(cmd *cobra.Command, o *spec.Options) {
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "run the trial's quick form: less certain, but done in minutes")
	cmd.Flags().StringArrayVar(&o.Set, "set", nil, "set a key of the trial, for example phases.measure=10s; may be repeated")
}

func runTrial(ctx context.Context, c console, file string, o trialRunOptions) (err error) {
	t, err := readTrial(file, o.Options)
	if err != nil {
		return err
	}
	noise, err := o.lookAtNoise()
	if err != nil {
		return err
	}
	if name := t.Production(); name != "" {
		if err := confirm(c, o.yes, fmt.Sprintf("%s is in production. Put it under load?", name)); err != nil {
			return err
		}
	}
	deps, err := labDeps()
	if err != nil {
		return err
	}
	var state *durable.Store
	if t.NeedsState() {
		if state, err = openState(ctx, deps); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, state.Close()) }()
	}
	result, runErr := measure(ctx, c, t, o, noise, deps, state)
	if result == nil {
		return runErr
	}
	if err := errors.Join(showRun(c, result, o), runErr); err != nil {
		return err
	}
	return withCode{verdictExit(result.Verdict.Verdict)}
}

// lookAtNoise reads --noise as Site.Noise has it.
func (o trialRunOptions) lookAtNoise() (time.Duration, error) {
	switch o.noise {
	case "", "auto":
		return 0, nil
	case "off":
		return -1, nil
	}
	d, err := time.ParseDuration(o.noise)
	if err != nil || d < 5*time.Second {
		return 0, usageError{text: fmt.Sprintf("--noise %q, expected auto, off, or a time from 5s on such as 30s", o.noise)}
	}
	return d, nil
}

// measure runs a trial before the eyes of who waits, and writes its report.
func measure(ctx context.Context, c console, t *spec.Trial, o trialRunOptions, noise time.Duration, deps lab.Deps, state *durable.Store) (*result.Result, error) {
	dir := o.out
	if dir == "" {
		dir = filepath.Join(resultsFolder(), safeName(t.Name), time.Now().Format("2006-01-02T15-04-05"))
	}
	screen, err := newScreen(c)
	if err != nil {
		return nil, err
	}
	tidy := context.AfterFunc(ctx, func() {
		screen.Say("Stopping the load, then the cluster. What was measured is kept. Ctrl-C again exits at once; then run plimsoll lab down --all.")
	})
	result, runErr := run.Run(ctx, t, catalog.Parts(), run.Site{
		Lab: deps, Dir: dir, Observer: screen, Log: newLog(c), Version: version(), Command: os.Args, State: state,
		BreakLock: o.breakLock, Noise: noise, Production: t.Production() != "", // agreed to by the caller
	})
	tidy()
	runErr = errors.Join(runErr, screen.Close())
	if result == nil {
		return nil, runErr
	}
	return result, errors.Join(report.Write(result.Dir, result), runErr)
}

// newScreen shows a running trial: a full screen for a person, plain lines elsewhere.
func newScreen(c console) (report.Screen, error) {
	if f, ok := fileOf(c.err); ok {
		return report.Live(f, time.Now)
	}
	return report.Lines(c.err, time.Now), nil
}

// showRun prints what came out, where it is, and what to do with it.
func showRun(c console, result *result.Result, o trialRunOptions) error {
	if o.json {
		return jsonTo(c, result.Verdict)
	}
	if err := report.Text(c.out, result, c.paper()); err != nil {
		return err
	}
	page, err := filepath.Abs(filepath.Join(result.Dir, reportPage))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.out)
	if _, err := os.Stat(page); err == nil { // a full disk has none
		fmt.Fprintf(c.out, "Report:   %s\n", page)
	}
	for _, e := range result.Events {
		if e.Kind != series.RehearsalKept {
			continue
		}
		counts := "counts for its gate"
		if e.Detail["passed"] != true {
			counts = "failed: the gate's count starts again at zero"
		}
		if why, is := e.Detail["nothing"].(string); is {
			counts = "does not count, and does not reset the count: " + why
		}
		fmt.Fprintf(c.out, "Rehearsal: %s %s\n", e.Name, counts)
	}
	fmt.Fprintf(c.out, "Next:     plimsoll trial show %s\n", result.Dir)
	if o.Quick {
		fmt.Fprintf(c.out, "          without --quick, for a more certain answer\n")
	}
	fmt.Fprintf(c.out, "          plimsoll trial compare %s ANOTHER, for two results side by side\n", result.Dir)
	return nil
}

// safeName makes a trial's name a folder's.
func safeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ' ' || r == ':' {
			return '-'
		}
		return r
	}, name)
}
