package trialcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/report"
)

func newShow(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: home.CompleteResults,
		Use:               "show DIR",
		Short:             "Show a result in the terminal",
		Example:           "  plimsoll trial show results/binlog-cost/2026-01-31T12-00-00",
		Args:              console.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := home.OpenResult(args[0])
			if err != nil {
				return err
			}
			home.TellFate(cmd.Context(), result)
			if asJSON {
				return console.PrintJSON(c, result.Verdict)
			}
			return report.Text(c.Prose(), result, c.Paper())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print verdict.json")
	return cmd
}
