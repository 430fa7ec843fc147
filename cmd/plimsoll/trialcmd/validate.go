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
	"plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
)

func newValidate(c console.Streams) *cobra.Command {
	var o spec.Options
	var clusterName string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a trial without starting anything",
		Long: `Read a trial as trial run would, and report mistakes with file, line and column. Nothing is started.
A valid trial is shown as it would run: every cell, and how long it takes. Where the server is installed, its own program checks
the settings. Plimsoll looks for the files that commands of the timeline name, and compares the disk space for the data that the trial loads with
what is free.

With --cluster, Plimsoll also asks a running cluster what only a server knows, and changes nothing there: settings that it does not have or
accept, signals of expectations and metrics of guardrails that it does not show, grants that the account lacks, with the GRANT to type,
who holds the cluster's lock, the results of the runbooks' own checks, and the disk space that a copy of a table takes.`,
		Example: "  plimsoll trial validate examples/binlog-cost/trial.yaml --quick\n  plimsoll trial validate examples/binlog-cost/trial.yaml --cluster lab:demo",
		Args:    console.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := validated{File: args[0]}
			t, err := Read(args[0], o)
			if err != nil {
				v.Problems = console.Problems(err)
				return v.print(c, asJSON, err)
			}
			v.Foreseen, v.Cluster, err = foreseen(cmd.Context(), t, clusterName)
			v.Foreseen = slices.Concat(foresee.OfRate(t), foresee.Commands(t), v.Foreseen)
			v.outline(run.Outline(t))
			if err != nil {
				v.Problems = console.Problems(err)
			}
			return v.print(c, asJSON, err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&clusterName, "cluster", "", "also check against this cluster: a `NAME` of the inventory or the lab, or lab:NAME")
	console.Completing(cmd, "cluster", home.CompleteClusters)
	addTrialOptions(cmd, &o)
	return cmd
}

// validated is what is known of a trial that nothing was started for.
type validated struct {
	File     string             `json:"file"`
	Valid    bool               `json:"valid"` // nothing is known that would keep it from running
	Problems []console.Problem  `json:"problems,omitempty"`
	Trial    string             `json:"trial,omitempty"`
	Question string             `json:"question,omitempty"`
	Cells    []string           `json:"cells,omitempty"`
	Rounds   int                `json:"rounds,omitempty"`
	About    float64            `json:"about_seconds,omitempty"`
	Cluster  string             `json:"cluster,omitempty"` // that it was checked against
	Foreseen []foresee.Foreseen `json:"foreseen,omitempty"`

	plan progress.Plan
}

func (v *validated) outline(p progress.Plan) {
	v.plan = p
	v.Trial, v.Question, v.Rounds, v.About = p.Trial, p.Question, p.Rounds, p.Left.Seconds()
	for _, cell := range p.Cells {
		v.Cells = append(v.Cells, cell.Name)
	}
}

// print shows what was found, after which a check ended with an error or without.
func (v *validated) print(c console.Streams, asJSON bool, ended error) error {
	must := 0
	for _, f := range v.Foreseen {
		if f.Must {
			must++
		}
	}
	v.Valid = ended == nil && must == 0
	switch {
	case asJSON:
		if err := console.PrintJSON(c, v); err != nil {
			return err
		}
	case v.plan.Rounds > 0:
		v.text(c, must, ended)
	}
	if ended == nil && must > 0 {
		return fmt.Errorf("the trial cannot run as it is, for %s", countOf(must, "reason"))
	}
	return ended
}

// text prints the trial as it would run, and what is foreseen of it.
func (v *validated) text(c console.Streams, must int, ended error) {
	is := "valid"
	if must > 0 {
		is = "valid, but it would not run"
	}
	fmt.Fprintf(c.Out, "%s: %s. %s × %s, about %s.\n", v.File, is, countOf(len(v.Cells), "cell"), countOf(v.Rounds, "round"), console.Roughly(v.plan.Left))
	for _, name := range v.Cells {
		if name != "" {
			fmt.Fprintf(c.Out, "  %s\n", name)
		}
	}
	if ended != nil {
		return
	}
	if v.Cluster != "" && len(v.Foreseen) == 0 {
		fmt.Fprintf(c.Out, "Checked against cluster %s: no obstacle found.\n", v.Cluster)
	}
	for _, f := range v.Foreseen {
		kind := "note"
		if f.Must {
			kind = "refused"
		}
		fmt.Fprintf(c.Prose(), "%s: %s\n", kind, f)
		if f.Do != "" {
			fmt.Fprintf(c.Prose(), "  %s\n", f.Do)
		}
	}
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
	deps, err := home.LabDeps()
	if err != nil {
		return nil, "", err
	}
	room := foresee.RoomForData(ctx, t, deps.Machine, deps.Home)
	if clusterName == "" {
		return append(foresee.SettingsOfLab(ctx, t, catalog.Parts(), deps), room...), "", nil
	}
	err = runs.With(ctx, func(ctx context.Context, d *runs.Service) (err error) {
		d.Open = d.Look
		on, err := d.Look(ctx, clusterName)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, on.Close()) }()
		var already []foresee.Foreseen
		parts := catalog.Parts()
		parts.ClusterLock = d.ClusterLock
		found, err = foresee.Foresee(ctx, t, parts, on, noting(d.Prepare, &already))
		found, name = slices.Concat(found, room, already), on.Name
		return err
	})
	return found, name, err
}
