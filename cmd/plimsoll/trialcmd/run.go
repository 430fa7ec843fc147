package trialcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/analyze"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/lab"
	"plimsoll/report"
	"plimsoll/result"
	"plimsoll/series"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

type RunOptions struct {
	spec.Options
	out  string
	json bool
	yes  bool

	breakLock string
	noise     string
}

func newRun(c console.Streams) *cobra.Command {
	var o RunOptions
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a trial and judge it",
		Long: `Run a trial: start its cluster, load its data, measure every cell in every round, judge, and write the result folder
with report.html and report.md. The cluster is removed at the end, also after Ctrl-C; what was measured until then is kept.

Exit codes: 0 PASS, 3 FAIL, 4 INCONCLUSIVE, 5 INVALID, 1 an error or COULD NOT RUN, 2 bad input, 130 interrupted.`,
		Example: `  plimsoll trial run examples/binlog-cost/trial.yaml --quick
  plimsoll trial run examples/commit-path/trial.yaml --set cluster.engine=mysql --set phases.rounds=5 --out results/mysql`,
		Args: console.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return runTrial(cmd.Context(), c, args[0], o) },
	}
	addTrialOptions(cmd, &o.Options)
	cmd.Flags().StringVar(&o.out, "out", "", "folder for the result (default results/NAME/TIME)")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask before putting a target in production under load")
	console.Reason(cmd, &o.breakLock, "break-lock", "with a target: take over the lock of a run or a trial that no process executes any more, for this `REASON`")
	cmd.Flags().StringVar(&o.noise, "noise", "auto", "how long to measure the noise of the load before the trial, and with it the smallest difference that the trial could show: a time, auto (15s before a trial of five minutes or more) or off")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the verdict as JSON")
	return cmd
}

func addTrialOptions(cmd *cobra.Command, o *spec.Options) {
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "use the trial's quick form: less certain, but it takes only minutes")
	cmd.Flags().StringArrayVar(&o.Set, "set", nil, "set a key of the trial, for example phases.measure=10s; may be repeated")
}

func runTrial(ctx context.Context, c console.Streams, file string, o RunOptions) (err error) {
	t, err := Read(file, o.Options)
	if err != nil {
		return err
	}
	noise, err := o.lookAtNoise()
	if err != nil {
		return err
	}
	if name := t.Production(); name != "" {
		if err := console.Confirm(c, o.yes, fmt.Sprintf("%s is in production. Put it under load?", name)); err != nil {
			return err
		}
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	var state *durable.Store
	if t.NeedsState() {
		if state, err = home.OpenState(ctx, deps); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, state.Close()) }()
	}
	result, runErr := Measure(ctx, c, t, catalog.Parts(), o, noise, deps, state)
	if result == nil {
		return runErr
	}
	if err := errors.Join(showRun(c, result, file, o), runErr); err != nil {
		return err
	}
	return console.WithCode{Code: console.VerdictExit(result.Verdict.Verdict)}
}

// lookAtNoise reads --noise as Options.Noise has it.
func (o RunOptions) lookAtNoise() (time.Duration, error) {
	switch o.noise {
	case "", "auto":
		return 0, nil
	case "off":
		return -1, nil
	}
	d, err := time.ParseDuration(o.noise)
	if err != nil || d < 5*time.Second {
		return 0, console.UsageError{Text: fmt.Sprintf("--noise %q, expected auto, off, or a time from 5s on such as 30s", o.noise)}
	}
	return d, nil
}

// Measure runs a trial before the eyes of who waits, and writes its report.
func Measure(ctx context.Context, c console.Streams, t *spec.Trial, parts spec.Parts, o RunOptions, noise time.Duration, deps lab.Deps, state *durable.Store) (*result.Result, error) {
	dir := o.out
	if dir == "" {
		dir = filepath.Join(home.NewResultsFolder(), home.SafeName(t.Name), time.Now().Format("2006-01-02T15-04-05"))
	}
	screen, err := newScreen(c)
	if err != nil {
		return nil, err
	}
	tidy := context.AfterFunc(ctx, func() {
		screen.Say("Stopping the load, then the cluster. What was measured is kept. Ctrl-C again exits at once; then run plimsoll lab down --all.")
	})
	result, runErr := run.Run(ctx, t, parts, run.Options{
		Lab: deps, Dir: dir, Observer: screen, Log: console.NewLog(c), Version: home.Version(), Command: os.Args, State: state,
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
func newScreen(c console.Streams) (report.Screen, error) {
	if f, ok := console.FileOf(c.Err); ok {
		return report.Live(f, time.Now)
	}
	return report.Lines(c.Err, time.Now), nil
}

// showRun prints what came out, where it is, and what to do with it.
func showRun(c console.Streams, result *result.Result, file string, o RunOptions) error {
	if o.json {
		return console.PrintJSON(c, result.Verdict)
	}
	if err := report.Text(c.Prose(), result, c.Paper()); err != nil {
		return err
	}
	page, err := filepath.Abs(filepath.Join(result.Dir, reportPage))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Out)
	if _, err := os.Stat(page); err == nil { // a full disk has none
		fmt.Fprintf(c.Out, "Report:   %s\n", page)
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
		of := e.Name
		if inputs, is := e.Detail["inputs"].(string); is {
			of += " with " + inputs
		}
		fmt.Fprintf(c.Out, "Rehearsal: %s %s\n", of, counts)
	}
	for n, line := range next(result, file, o) {
		label := "Next:    "
		if n > 0 {
			label = "         "
		}
		fmt.Fprintln(c.Prose(), label, line)
	}
	return nil
}

// next lists the commands that follow from how a trial ended. A longer one answers only what the data could not tell: where the trial could not
// run, or was not measured well, the cause comes first.
func next(r *result.Result, file string, o RunOptions) []string {
	show := "plimsoll trial show " + hint.Quoted(r.Dir)
	compare := fmt.Sprintf("plimsoll trial compare %s ANOTHER, for two results side by side", hint.Quoted(r.Dir))
	again := o.Command(file)
	o.Quick = false
	longer := o.Command(file)
	switch {
	case r.Verdict.Ended != nil && r.Verdict.Ended.How == result.Interrupted:
		return []string{again + ", which begins anew", show}
	case r.Verdict.Verdict == analyze.CouldNotRun:
		return []string{again + ", once the cause is fixed"}
	case r.Verdict.Verdict == analyze.Invalid:
		return []string{show, again + ", once the cause is fixed"}
	case again != longer:
		return []string{show, longer + ", for a more certain answer", compare}
	}
	return []string{show, compare}
}
