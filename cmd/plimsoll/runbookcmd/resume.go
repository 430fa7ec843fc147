package runbookcmd

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/journal"
)

func newResume(c console.Streams) *cobra.Command {
	var asJSON, yes bool
	var reason, changed string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "resume RUN", Short: "Continue a run that was interrupted or failed, or whose process was killed", Args: console.Exactly("RUN"),
		Long: `Continue a run. A finished step never runs again. An interrupted step is checked before it acts again; a failed step is tried
again. A step that was interrupted and is not safe to repeat needs a person: resume confirms that you have checked the cluster.
If the run has ended but its cluster is still locked, resume unlocks the cluster and exits with the exit code of the run.`,
		Example: "  plimsoll runbook resume rolling-restart-a1b2c3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				st, err := d.State(ctx, args[0])
				if err != nil {
					return err
				}
				if st.Outcome != "" && st.Outcome != journal.RunFailed {
					if gave, err := giveBack(ctx, c, d, args[0]); err != nil {
						return err
					} else if gave { // that was left to do of it
						return conclude(ctx, c, d, args[0], asJSON, &journal.Command{Do: journal.DoResume}, nil)
					}
					return console.UsageError{Text: "run " + args[0] + " is " + string(st.Outcome) + ": there is nothing to resume", Hint: "to run one of its steps again: " + rerunning(args[0], st, "")}
				}
				return executeRun(ctx, c, d, args[0], &journal.Command{Do: journal.DoResume, Reason: reason, Changed: changed}, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "accepted for scripts that pass it to every command; resume never asks")
	console.Reason(cmd, &reason, "reason", "for the record")
	changedFlag(cmd, &changed)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the final state")
	return cmd
}

// changedFlag lets a person say that a run goes on by actions that changed since it was planned.
func changedFlag(cmd *cobra.Command, reason *string) {
	console.Reason(cmd, reason, "changed-actions", "continue although actions have other versions than when the run was planned, for this `REASON`, which is kept with the run")
}
