package main

import (
	"github.com/spf13/cobra"

	"plimsoll/result"
	"plimsoll/trial/judge"

	"plimsoll/report"
)

func newTrialCompare(c console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: completeResults,
		Use:               "compare DIR DIR",
		Short:             "Say which differences between two results the data supports",
		Long: `Lay two results side by side: for every cell and phase that both have, the ratio of throughput and response times,
second over first, with its interval. What the data does not support is said not to differ. Of results whose loads differ
only what means the same in both is compared, and it is said what does not. A rate that is a share of the maximum is the
one that was found.`,
		Example: "  plimsoll trial compare results/binlog-cost/mariadb results/binlog-cost/mysql",
		Args:    exactly("DIR", "DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			var results [2]*result.Result
			for i, dir := range args {
				result, err := result.Open(resultFolder(dir))
				if err != nil {
					return err
				}
				results[i] = result
			}
			versus, err := judge.CompareResults(results[0], results[1])
			if err != nil {
				return err
			}
			if asJSON {
				return jsonTo(c, versus)
			}
			return report.Versus(c.out, versus, c.paper())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
