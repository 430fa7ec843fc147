package runbookcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/hint"
	"plimsoll/runbook/execute"
)

func newPlan(c console.Streams) *cobra.Command {
	var q Request
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "plan RUNBOOK", Short: "Run every check for real and show what a run would do; change nothing", Args: console.Exactly("RUNBOOK"),
		Long: `Run the check of every step for real and show the present state and the intended state, step by step. Nothing is changed.

  ~ would change    = already so    ? known after an earlier step has run    - skipped    ! cannot be done now

The hash at the end identifies the whole plan: run --plan HASH runs exactly this plan, and an approval is valid for it only.`,
		Example: "  plimsoll runbook plan mysql/set-variable --cluster demo -i name=sync_binlog -i value=100",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				d.Open = d.Look // a run may hold the cluster
				p, err := q.prepare(ctx, d, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					if err := console.PrintJSON(c, planAsJSON(p)); err != nil {
						return err
					}
					return q.planRefusal(p.Trouble(), args[0])
				}
				printPlan(c.Prose(), p)
				if err := q.planRefusal(p.Trouble(), args[0]); err != nil {
					return err
				}
				next := "plimsoll runbook run " + hint.Quoted(args[0]) + q.asTyped()
				if err := q.gateRefusal(p, args[0]); err != nil {
					if idlePlan(p) {
						return nil
					}
					next = hint.Of(err)
				}
				if advice := hint.Of(p.Held); advice != "" {
					next = advice + "; then " + next
				}
				fmt.Fprintf(c.Err, "Next: %s\n", next)
				return nil
			})
		},
	}
	q.Flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printedPlan is what plan --json prints.
type printedPlan struct {
	*execute.Prepared
	Held    string `json:"held,omitempty"`    // who has a cluster now
	Trouble string `json:"trouble,omitempty"` // why a run that began now would stop
}

func planAsJSON(p *execute.Prepared) printedPlan {
	out := printedPlan{Prepared: p}
	if p.Held != nil {
		out.Held = p.Held.Error()
	}
	if err := p.Trouble(); err != nil {
		out.Trouble = err.Error()
	}
	return out
}
