package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/trial"
)

func newTrialValidate(c console) *cobra.Command {
	var o trial.Options
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a trial without starting anything",
		Long: `Read a trial as run would and say what is wrong with it, with file, line and column. Nothing is started.
What is right is shown as it would be run: every cell, and how long it takes.`,
		Example: "  plimsoll trial validate examples/binlog-cost/trial.yaml --quick",
		Args:    exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := readTrial(args[0], o)
			if err != nil {
				return err
			}
			outline := t.Outline()
			fmt.Fprintf(c.out, "%s: valid. %s × %s, about %s.\n", args[0], countOf(len(outline.Cells), "cell"), countOf(outline.Rounds, "round"), roughly(outline.Left))
			for _, cell := range outline.Cells {
				if cell.Name != "" {
					fmt.Fprintf(c.out, "  %s\n", cell.Name)
				}
			}
			return nil
		},
	}
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
