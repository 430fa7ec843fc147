package main

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/runbook/journal"
)

func newRunbookResume(c console) *cobra.Command {
	var asJSON, yes bool
	var reason, changed string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "resume RUN", Short: "Go on with a run that was interrupted, parked or failed", Args: exactly("RUN"),
		Long: `Go on with a run. A finished step never runs again. A step that was interrupted is checked before it acts again; one that
failed is tried anew; one that asked a person, because it was cut off and cannot be repeated blindly, is taken as looked at.`,
		Example: "  plimsoll runbook resume rolling-restart-a1b2c3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd.Context(), func(ctx context.Context, d *desk) error {
				st, err := d.State(ctx, args[0])
				if err != nil {
					return err
				}
				if st.Outcome != "" && st.Outcome != journal.RunFailed {
					if err := giveBack(ctx, c, d, args[0]); err != nil {
						return err
					}
					return usageError{text: "run " + args[0] + " is " + string(st.Outcome) + ": there is nothing to go on with", hint: "to run one of its steps again: plimsoll runbook rerun " + args[0] + " --step STEP"}
				}
				return executeRun(ctx, c, d, args[0], &journal.Command{Do: "resume", Reason: reason, Changed: changed}, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "nothing is asked anyway; for scripts that give it to every command")
	cmd.Flags().StringVar(&reason, "reason", "", "for the record")
	changedFlag(cmd, &changed)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the state at the end")
	return cmd
}

// changedFlag lets a person say that a run goes on by actions that changed since it was planned.
func changedFlag(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "changed-actions", "", "go on although actions are of other versions than when the run was planned, for this `REASON`; it stays visible for ever")
}
