package trialcmd

import (
	"os"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/result"
	"plimsoll/trial/judge"

	"plimsoll/report"
)

// NewCompare is trial compare.
func NewCompare(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: home.CompleteResults,
		Use:               "compare DIR DIR",
		Short:             "Show which differences between two results the data supports",
		Long: `Compare two results: for every cell and phase that both have, print the ratio of throughput and response times,
second over first, with its interval. Differences that the data does not support are marked as such. If the loads of the results differ,
only figures that mean the same in both are compared, and the others are named. A rate given as a share of the maximum counts as the
rate that was found.`,
		Example: "  plimsoll trial compare results/binlog-cost/mariadb results/binlog-cost/mysql",
		Args:    console.Exactly("DIR", "DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			var results [2]*result.Result
			for i, dir := range args {
				result, err := home.OpenResult(dir)
				if err != nil {
					return err
				}
				results[i] = result
			}
			if err := another(results[0], results[1]); err != nil {
				return err
			}
			versus, err := judge.CompareResults(results[0], results[1])
			if err != nil {
				return err
			}
			if asJSON {
				return console.PrintJSON(c, versus)
			}
			return report.Versus(c.Prose(), versus, c.Paper())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// another refuses a result beside itself, which differs in nothing.
func another(first, second *result.Result) error {
	a, errA := os.Stat(first.Dir)
	b, errB := os.Stat(second.Dir)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return console.UsageError{Text: first.Dir + " is given twice, expected two results", Hint: "plimsoll trial list shows the results"}
	}
	return nil
}
