package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/runbook/journal"
)

func newRunbookRun(c console) *cobra.Command {
	var q request
	var yes, asJSON bool
	var plan string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRunbooks,
		Use:               "run RUNBOOK", Short: "Plan, ask, and run", Args: exactly("RUNBOOK"),
		Long: `Plan a runbook, show the plan, ask, and run it. Ctrl-C lets the step that is acting end and begins no other; a second
Ctrl-C ends Plimsoll at once. Either way plimsoll runbook resume goes on.`,
		Example: "  plimsoll runbook run mysql/rolling-restart --cluster demo\n  plimsoll runbook run change.yaml --cluster orders -i node=b --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd.Context(), func(ctx context.Context, d *desk) error {
				if run, err := d.unfinished(ctx); err != nil || run != "" {
					return errors.Join(err, executeRun(ctx, c, d, run, &journal.Command{Do: "resume"}, asJSON))
				}
				p, err := q.prepare(ctx, d, args[0])
				if err != nil {
					return err
				}
				printPlan(c.err, p)
				if err := p.Trouble(); err != nil {
					return err
				}
				if plan != "" && plan != p.Header.Plan.Hash {
					return usageError{text: fmt.Sprintf("the plan is %s now, not %s", p.Header.Plan.Hash, plan), hint: "look at it again"}
				}
				if err := p.Gate.Refusal(q.override); err != nil {
					return err
				}
				if err := confirm(c, yes || plan != "", "Run it?"); err != nil {
					return err
				}
				run, err := d.Begin(ctx, p)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.err, "run %s\n", run)
				return executeRun(ctx, c, d, run, &journal.Command{Do: "run"}, asJSON)
			})
		},
	}
	q.flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&plan, "plan", "", "run only if the plan has this hash; then nothing is asked")
	cmd.Flags().StringVar(&q.override, "override", "", "pass a closed gate by, for this `REASON`; it stays visible for ever")
	cmd.Flags().StringVar(&q.breakLock, "break-lock", "", "take the lock of a run that no process executes any more, for this `REASON`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the state at the end")
	return cmd
}

// unfinished is the run that a child of a torture goes on with: the only one in its store.
func (d *desk) unfinished(ctx context.Context) (string, error) {
	if !d.tortured {
		return "", nil
	}
	runs, err := d.Store.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return "", err
	}
	return runs[0].ID, nil
}
