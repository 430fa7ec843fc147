package main

import (
	"errors"
	"fmt"
	"io"
	"os"
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
				width, _ := terminal(c.out)
				return report.Plot(c.out, result, width, color(c.out))
			}
			if err := writeReports(result); err != nil {
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

func writeReports(result *trial.Result) error {
	return errors.Join(
		writeFile(filepath.Join(result.Dir, reportPage), func(w io.Writer) error { return report.HTML(w, result) }),
		writeFile(filepath.Join(result.Dir, reportMarkdown), func(w io.Writer) error { return report.Markdown(w, result) }),
	)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
