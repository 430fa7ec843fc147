package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll/report"
	"plimsoll/trial"
)

// The reports of a result folder.
const (
	reportPage     = "report.html"
	reportMarkdown = "report.md"
)

func newTrialReport(c console) *cobra.Command {
	var plot bool
	cmd := &cobra.Command{
		Use:   "report DIR",
		Short: "Write a result's reports again, or plot it",
		Long:  "Write report.html and report.md from the other files of a result folder, or draw its curves in the terminal.",
		Example: `  plimsoll trial report results/binlog-cost/2026-01-31T12-00-00
  plimsoll trial report results/binlog-cost/2026-01-31T12-00-00 --plot`,
		Args: exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			result, err := trial.Open(args[0])
			if err != nil {
				return err
			}
			if plot {
				return report.Plot(c.out, result, c.paper())
			}
			if err := report.Write(result.Dir, result); err != nil {
				return err
			}
			fmt.Fprintln(c.out, filepath.Join(result.Dir, reportPage))
			fmt.Fprintln(c.out, filepath.Join(result.Dir, reportMarkdown))
			return nil
		},
	}
	cmd.Flags().BoolVar(&plot, "plot", false, "draw the curves in the terminal instead")
	return cmd
}
