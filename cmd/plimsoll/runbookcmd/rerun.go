package runbookcmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook/journal"
)

// rerunning is the command that runs a step again: the one that was named, else the last that has run.
func rerunning(run string, st *journal.State, step string) string {
	for _, i := range slices.Backward(st.Items) {
		if i.Over() && step == "" {
			step = i.Key
		}
	}
	return "plimsoll runbook rerun " + run + " --step " + hint.Quoted(cmp.Or(step, hint.FillIn)) + " --reason REASON"
}

func newRerun(c console.Streams) *cobra.Command {
	var o journal.Command
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "rerun RUN --step STEP --reason REASON", Short: "Run a step again, with those after it if asked", Args: console.Exactly("RUN"),
		Long: `Run one step of a run again: Plimsoll checks it, and acts if needed. The new attempt is added to the journal; the journal is never edited.
Name a step of a rolling group with its target: group[target].step.`,
		Example: "  plimsoll runbook rerun rolling-restart-a1b2c3 --step 'each[n2].restart' --reason 'wrong version'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				st, err := d.State(ctx, args[0])
				if err != nil {
					return err
				}
				if o.Step == "" || o.Reason == "" {
					return console.UsageError{Text: "the step or the reason is missing", Hint: rerunning(args[0], st, o.Step)}
				}
				if st.Item(o.Step) == nil {
					var keys []string
					for _, i := range st.Items {
						keys = append(keys, i.Key)
					}
					return document.UnknownName(&document.Node{Kind: document.Scalar, File: "--step", Text: o.Step}, "step", keys)
				}
				if err := st.Rerunnable(o.Step); err != nil {
					return journal.RefusalOf(err, args[0])
				}
				o.Do = "rerun"
				return executeRun(ctx, c, d, args[0], &o, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&o.Step, "step", "", "the step to run again (required)")
	console.Completing(cmd, "step", completeSteps)
	cmd.Flags().BoolVar(&o.Downstream, "downstream", false, "and all steps after it")
	console.Reason(cmd, &o.Reason, "reason", "for the record (required)")
	changedFlag(cmd, &o.Changed)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the final state")
	return cmd
}
