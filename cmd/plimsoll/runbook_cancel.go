package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/hint"
	"plimsoll/runbook/journal"
)

func newRunbookCancel(c console) *cobra.Command {
	var w journal.Message
	var yes, asJSON bool
	var changed string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "cancel RUN", Short: "End a run and give its cluster back, taking back what it did if asked", Args: exactly("RUN"),
		Long: `End a run. What acts now may end; nothing else begins. With --undo the steps are taken back from the last to the first.
A step that was begun and not finished is looked at first. Beyond a step that cannot be taken back the safe way is forward: the
cancellation is not taken, and says what stands and how to finish (code 1). The cluster is given back as it is, with what stands,
only with --leave REASON; status, plan and later runs say so until it is mended. A run that is being executed is told; while
another one is, this waits for its turn.`,
		Example: "  plimsoll runbook cancel rolling-restart-a1b2c3 --undo --reason 'wrong cluster'\n" +
			"  plimsoll runbook cancel switchover-a1b2c3 --leave 'n3 is rebuilt by hand'",
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
					return usageError{text: "run " + args[0] + " has ended: " + string(st.Outcome)}
				}
				if err := confirm(c, yes, "End run "+args[0]+" on cluster "+st.Header.Cluster+"?"); err != nil {
					return err
				}
				executed, elsewhere, err := d.executed(ctx, args[0])
				if err != nil {
					return err
				}
				w.Say = "cancel"
				if why := st.TooLate(w); executed && why != "" {
					return hint.With(fmt.Errorf("run %s is not cancelled: %s", args[0], why), "plimsoll runbook status "+args[0])
				}
				if executed { // by another process: tell it
					if err := d.Tell(ctx, args[0], w); err != nil {
						return err
					}
					if elsewhere != nil {
						fmt.Fprintln(c.err, elsewhere)
					}
					fmt.Fprintf(c.err, "the process that executes the run was told; plimsoll runbook status %s shows what it does\n", args[0])
					return nil
				}
				return executeRun(ctx, c, d, args[0], &journal.Command{Do: "cancel", Undo: w.Undo, Leave: w.Leave, Reason: w.Reason, Changed: changed}, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&w.Undo, "undo", false, "take back what was done")
	cmd.Flags().StringVar(&w.Leave, "leave", "", "give the cluster back as it is, with what stands, for this `REASON`; it stays visible until it is fixed")
	cmd.Flags().StringVar(&w.Reason, "reason", "", "for the record")
	changedFlag(cmd, &changed)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the state at the end")
	return cmd
}

// giveBack gives back what a run that has ended still holds, as its process died before it could.
func giveBack(ctx context.Context, c console, d *desk, run string) error {
	gave, err := d.GiveBack(ctx, run)
	if gave {
		fmt.Fprintf(c.err, "run %s had ended and not given its cluster back: it has now\n", run)
	}
	return err
}
