package runbookcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

func newMended(c console.Streams) *cobra.Command {
	var reason string
	var damaged bool
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "fixed RUN --reason REASON", Short: "Record that what a run left undone was fixed by hand", Args: console.Exactly("RUN"),
		Long: `Record that you fixed by hand what a run left undone: targets that it left out, or what stayed done when its cluster was released
as it was. status, plan and later runs then no longer mention it. A run that brings such a target back, such as mysql/rejoin, records this
by itself. With --damaged, record that you checked what the damaged records of the run's clusters may have said: any run on the cluster will do.`,
		Example: "  plimsoll runbook fixed switchover-a1b2c3 --reason 'n3 was rebuilt'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return console.UsageError{Text: "the reason is missing: how was it fixed?", Hint: "plimsoll runbook fixed " + args[0] + " --reason REASON"}
			}
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				none := "run " + args[0] + " left nothing to fix"
				mend := func() ([]journal.Remainder, error) { return d.Mend(ctx, args[0], reason) }
				if damaged {
					none = "no record of the clusters of run " + args[0] + " is damaged"
					mend = func() ([]journal.Remainder, error) { return execute.MendDamaged(ctx, d.Service, args[0], reason) }
				}
				mended, err := mend()
				for _, m := range mended {
					fmt.Fprintf(c.Err, "recorded as fixed: %s\n", m)
				}
				if err == nil && len(mended) == 0 {
					return console.UsageError{Text: none}
				}
				return err
			})
		},
	}
	console.Reason(cmd, &reason, "reason", "for the record (required)")
	cmd.Flags().BoolVar(&damaged, "damaged", false, "the damaged records of the run's clusters, instead of what the run left")
	return cmd
}
