package main

import "github.com/spf13/cobra"

func newTrial(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trial",
		Short: "Answer a question about a database change with a measured trial",
		Long:  "A trial starts a cluster, puts it under load, compares variants or disturbs the cluster, and judges your expectations.",
	}
	cmd.AddCommand(newTrialRun(c), newTrialValidate(c), newTrialShow(c), newTrialReport(c), newTrialCompare(c),
		newTrialList(c), newTrialRm(c), newTrialPrune(c))
	return cmd
}
