// Package runbookcmd has the commands of plimsoll runbook.
package runbookcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

// Command is the noun, with verbs of other packages beside its own.
func Command(c console.Streams, more ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runbook",
		Short: "Change a database with durable runbooks",
		Long: `Plan, run and follow runbooks on a lab cluster or a cluster of the inventory (plimsoll.yaml). Every step is checked,
recorded before it acts, and verified. If Plimsoll is killed at any moment, the next run or resume on this machine continues
where it stopped. Runs are kept in $PLIMSOLL_HOME/runs, or in the Postgres that the inventory names.`,
	}
	cmd.AddCommand(
		newList(c), newShow(c), newValidate(c), newPlan(c), newRun(c), newStatus(c),
		newResume(c), newRerun(c), newApprove(c), newReject(c), newCancel(c), newMended(c),
		newHistory(c), newRehearse(c), newEvidence(c), newVerify(c),
	)
	cmd.AddCommand(more...)
	return cmd
}
