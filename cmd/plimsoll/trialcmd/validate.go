package trialcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/trial/foresee"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

func newValidate(c console.Streams) *cobra.Command {
	var o spec.Options
	var clusterName string
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a trial without starting anything",
		Long: `Read a trial as trial run would, and report mistakes with file, line and column. Nothing is started.
A valid trial is shown as it would run: every cell, and how long it takes. Where the server is installed, its own program checks
the settings. The disk space for the data that the trial loads is compared with what is free.

With --cluster, Plimsoll also asks a running cluster what only a server knows, and changes nothing there: settings that it does not have or
accept, signals of expectations and metrics of guardrails that it does not show, grants that the account lacks, with the GRANT to type,
who holds the cluster's lock, the results of the runbooks' own checks, and the disk space that a copy of a table takes.`,
		Example: "  plimsoll trial validate examples/binlog-cost/trial.yaml --quick\n  plimsoll trial validate examples/binlog-cost/trial.yaml --cluster lab:demo",
		Args:    console.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := Read(args[0], o)
			if err != nil {
				return err
			}
			found, on, err := foreseen(cmd.Context(), t, clusterName)
			is := "valid"
			if slices.ContainsFunc(found, func(f foresee.Foreseen) bool { return f.Must }) {
				is = "correct, but it cannot run"
			}
			outline := run.Outline(t)
			fmt.Fprintf(c.Out, "%s: %s. %s × %s, about %s.\n", args[0], is, countOf(len(outline.Cells), "cell"), countOf(outline.Rounds, "round"), console.Roughly(outline.Left))
			for _, cell := range outline.Cells {
				if cell.Name != "" {
					fmt.Fprintf(c.Out, "  %s\n", cell.Name)
				}
			}
			if err != nil {
				return err
			}
			if on != "" && len(found) == 0 {
				fmt.Fprintf(c.Out, "Checked against cluster %s: no obstacle found.\n", on)
			}
			return tellForeseen(c, slices.Concat(foresee.OfRate(t), foresee.Commands(t), found))
		},
	}
	cmd.Flags().StringVar(&clusterName, "cluster", "", "also check against this cluster: a `NAME` of the inventory or the lab, or lab:NAME")
	console.Completing(cmd, "cluster", home.CompleteClusters)
	addTrialOptions(cmd, &o)
	return cmd
}

// countOf writes a number of things, of which there may be one.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// foreseen is what can be told of a trial before its load: by the programs of its servers, or by a cluster that runs, whose name it returns.
func foreseen(ctx context.Context, t *spec.Trial, clusterName string) (found []foresee.Foreseen, name string, err error) {
	if clusterName == "" {
		deps, err := home.LabDeps()
		if err != nil {
			return nil, "", err
		}
		return append(foresee.SettingsOfLab(ctx, t, catalog.Parts(), deps), foresee.RoomForData(ctx, t, deps.Machine, deps.Home)...), "", nil
	}
	err = runs.With(ctx, func(ctx context.Context, d *runs.Service) (err error) {
		d.Open = d.Look
		on, err := d.Look(ctx, clusterName)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, on.Close()) }()
		var already []foresee.Foreseen
		found, err = foresee.Foresee(ctx, t, catalog.Parts(), on, noting(d.Prepare, &already))
		found, name = append(found, already...), on.Name
		return err
	})
	return found, name, err
}

// tellForeseen prints what is known, and refuses what must be otherwise.
func tellForeseen(c console.Streams, all []foresee.Foreseen) error {
	must := 0
	for _, f := range all {
		kind := "note"
		if f.Must {
			kind = "refused"
			must++
		}
		fmt.Fprintf(c.Prose(), "%s: %s\n", kind, f)
		if f.Do != "" {
			fmt.Fprintf(c.Prose(), "  %s\n", f.Do)
		}
	}
	if must > 0 {
		return fmt.Errorf("the trial cannot run as it is, for %s", countOf(must, "reason"))
	}
	return nil
}
