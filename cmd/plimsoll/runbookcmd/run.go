package runbookcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

func newRun(c console.Streams) *cobra.Command {
	var q Request
	var yes, asJSON bool
	var plan string
	cmd := &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "run RUNBOOK", Short: "Plan a runbook, confirm, and run it", Args: console.Exactly("RUNBOOK"),
		Long: `Plan a runbook, show the plan, ask for confirmation, and run it. On Ctrl-C the step that is acting finishes and no other begins; a second
Ctrl-C ends Plimsoll at once. In both cases plimsoll runbook resume continues the run.`,
		Example: "  plimsoll runbook run mysql/rolling-restart --cluster demo\n  plimsoll runbook run change.yaml --cluster orders -i node=b --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				if run, err := unfinished(ctx, d); err != nil || run != "" {
					return errors.Join(err, executeRun(ctx, c, d, run, &journal.Command{Do: journal.DoResume}, asJSON))
				}
				p, err := q.prepare(ctx, d, args[0])
				if err != nil {
					return err
				}
				printPlan(c.Err, p)
				if err := q.planRefusal(p.Trouble(), args[0]); err != nil {
					return err
				}
				if plan != "" && plan != p.Header.Plan.Hash {
					return console.UsageError{Text: fmt.Sprintf("the plan is %s now, not %s", p.Header.Plan.Hash, plan), Hint: "read the plan above; to run it: " + q.runWith(args[0], p.Header.Plan.Hash)}
				}
				if err := q.gateRefusal(p, args[0]); err != nil {
					if !idlePlan(p) {
						return err
					}
					fmt.Fprintln(c.Err, "there is nothing to do, so no run was begun")
					if asJSON {
						return console.PrintJSON(c, Status{Runbook: p.Header.Runbook, Cluster: p.Header.Cluster, Status: "nothing to do", Plan: p.Header.Plan.Hash})
					}
					return nil
				}
				if err := console.Confirm(c, yes || plan != "", "Run it?"); err != nil {
					return err
				}
				d.Waiting = func(cluster string, most time.Duration) {
					fmt.Fprintf(c.Err, "the clock that would tell whether the lock of cluster %s has run out does not answer: watching for up to %s whether its run prolongs it\n", cluster, most)
				}
				run, err := d.Begin(ctx, p)
				var changed *execute.ChangedPlanError
				if errors.As(err, &changed) {
					changed.Plan = q.planAgain(args[0])
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(c.Err, "run %s\n", run)
				return executeRun(ctx, c, d, run, &journal.Command{Do: journal.DoRun}, asJSON)
			})
		},
	}
	q.Flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&plan, "plan", "", "run only if the plan has this hash, without asking")
	console.Reason(cmd, &q.override, "override", "run in spite of a closed gate, for this `REASON`, which is kept with the run")
	console.Reason(cmd, &q.breakLock, "break-lock", "take over the lock of a run that no process executes any more, for this `REASON`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the final state")
	return cmd
}

// unfinished is the run that a child of a torture goes on with: the only one in its store.
func unfinished(ctx context.Context, d *runs.Service) (string, error) {
	if !d.Approves {
		return "", nil
	}
	runs, err := d.Store.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return "", err
	}
	return runs[0].ID, nil
}
