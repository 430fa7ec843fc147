package main

import "github.com/spf13/cobra"

func newTrial(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trial",
		Short: "Ask a question of a real database",
		Long:  "A trial starts a cluster, puts it under load, compares or disturbs it, and judges what you expected of it.",
	}
	cmd.AddCommand(newTrialRun(c), newTrialValidate(c), newTrialShow(c), newTrialReport(c), newTrialCompare(c),
		newTrialList(c), newTrialRm(c), newTrialPrune(c))
	return cmd
}
