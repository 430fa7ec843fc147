package main

import (
	"github.com/spf13/cobra"

	"plimsoll/result"

	"plimsoll/report"
)

func newTrialShow(c console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: completeResults,
		Use:               "show DIR",
		Short:             "Show a result in the terminal",
		Example:           "  plimsoll trial show results/binlog-cost/2026-01-31T12-00-00",
		Args:              exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			result, err := result.Open(resultFolder(args[0]))
			if err != nil {
				return err
			}
			if asJSON {
				return jsonTo(c, result.Verdict)
			}
			return report.Text(c.out, result, c.paper())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print verdict.json")
	return cmd
}
