package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/action"
)

func newRunbookPlan(c console) *cobra.Command {
	var q request
	var asJSON bool
	cmd := &cobra.Command{
		Use: "plan RUNBOOK", Short: "Execute every check for real and show what a run would do; change nothing", Args: exactly("RUNBOOK"),
		Example: "  plimsoll runbook plan mysql/set-variable --cluster demo -i name=sync_binlog -i value=100",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd.Context(), func(ctx context.Context, d *desk) error {
				p, err := q.prepare(ctx, d, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return jsonTo(c, p)
				}
				printPlan(c.out, p)
				return p.Header.Plan.Trouble()
			})
		},
	}
	q.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withDesk opens the desk for one command.
func withDesk(ctx context.Context, f func(context.Context, *desk) error) error {
	d, err := openDesk(ctx)
	if err != nil {
		return err
	}
	return errors.Join(f(ctx, d), d.close())
}

func printPlan(w io.Writer, p *runbook.Prepared) {
	h := p.Header
	fmt.Fprintf(w, "%s on cluster %s (%s", h.Runbook, h.Cluster, h.Environment)
	if h.Product != "" {
		fmt.Fprintf(w, ", %s %s", h.Product, h.Version)
	}
	fmt.Fprintln(w, ")")
	for _, s := range h.Plan.Steps {
		printStep(w, s)
	}
	if p.Expected > 0 {
		fmt.Fprintf(w, "Earlier runs took about %s.\n", p.Expected.Round(time.Second))
	}
	if p.Gate.Needed > 0 {
		fmt.Fprintf(w, "Gate: %d of %d consecutive rehearsals have passed. %s\n", len(p.Gate.Passed), p.Gate.Needed, p.Gate.Why)
	}
	fmt.Fprintf(w, "Plan %s\n", h.Plan.Hash)
}

func printStep(w io.Writer, s runbook.PlanStep) {
	what := s.Uses
	if what == "" {
		what = "approval"
	}
	sign, text := "~", ""
	switch {
	case s.Failed:
		sign, text = "!", "cannot be checked: "+s.Reason
	case s.Skip:
		sign, text = "-", "skipped: its condition is false"
	case len(s.Later) > 0:
		sign, text = "?", "known when "+strings.Join(s.Later, ", ")+" has run"
	case s.State == action.Satisfied:
		sign, text = "=", "already so: "+facts(s.Observed)
	case s.State == action.Unknown:
		sign, text = "!", "cannot be told: "+s.Reason
	case s.Uses != "":
		text = facts(s.Observed) + " → " + facts(s.Intended)
		if s.Effect == action.Irreversible {
			text += ", irreversible"
		}
	}
	fmt.Fprintf(w, "  %s %s (%s) %s\n", sign, s.Key, what, text)
	if s.Approval != "" {
		fmt.Fprintf(w, "      waits for approval: %s\n", s.Approval)
	}
	if s.Caution != "" {
		fmt.Fprintf(w, "      waits for approval: %s\n", s.Caution)
	}
}

func facts(f action.Facts) string {
	var parts []string
	for _, key := range document.SortedKeys(f) {
		parts = append(parts, fmt.Sprintf("%s %v", key, f[key]))
	}
	if len(parts) == 0 {
		return "…"
	}
	return strings.Join(parts, ", ")
}
