// Package trialcmd has the commands of plimsoll trial.
package trialcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trial",
		Short: "Answer a question about a database change with a measured trial",
		Long:  "A trial starts a cluster, puts it under load, compares variants or disturbs the cluster, and judges your expectations.",
	}
	cmd.AddCommand(newRun(c), newValidate(c), newShow(c), newReport(c), NewCompare(c),
		newList(c), newRm(c), newPrune(c))
	return cmd
}
