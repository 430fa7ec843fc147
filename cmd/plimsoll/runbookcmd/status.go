package runbookcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

func newStatus(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "status [RUN]", Short: "Show the state of all runs, or of one, step by step",
		Example: "  plimsoll runbook status\n  plimsoll runbook status rolling-restart-a1b2c3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				if len(args) == 1 {
					return statusOfRun(ctx, c, d, args[0], asJSON)
				}
				return statusOfAll(ctx, c, d, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func statusOfAll(ctx context.Context, c console.Streams, d *runs.Service, asJSON bool) error {
	runs, err := d.Store.Runs(ctx)
	if err != nil {
		return err
	}
	var all []Status
	for _, r := range runs {
		s, err := readStatus(ctx, d, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // one damaged run is told, and keeps nobody from the others
			s = Status{Run: r.ID, Status: "damaged", Begun: r.Created, Damage: err.Error()}
		}
		s.Steps = nil
		all = append(all, s)
	}
	for n := range all {
		if s := &all[n]; s.Status == journal.Running || s.Status == "held" || s.Status == "asking" {
			executed, elsewhere, err := d.Executed(ctx, s.Run)
			if err != nil {
				return err
			}
			s.Elsewhere = elsewhere
			s.abandon(!executed)
		}
	}
	if asJSON {
		return console.PrintJSON(c, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Err, "no runs; plimsoll runbook list shows the runbooks, and plimsoll runbook plan what one would do")
		return nil
	}
	w := tabwriter.NewWriter(c.Prose(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tCLUSTER\tSTATUS\tBEGUN\tBY")
	for _, s := range all {
		status := journal.InWords(s.Status)
		switch {
		case s.Now == nil:
		case s.Status == journal.Stopped:
			status += fmt.Sprintf(" at %.0f %%", 100*s.Now.Share)
		case s.Status == journal.Running:
			status += fmt.Sprintf(" %.0f %%", 100*s.Now.Share)
		}
		if s.Abandoned {
			status += ", no process executes it"
		}
		if s.Stop != "" {
			status += ", " + s.Stop
		}
		if s.Over != "" {
			status += ", gate overridden: " + s.Over
		}
		if s.Damage != "" {
			status += ": " + s.Damage
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.Run, s.Cluster, status, s.Begun.Local().Format(time.DateTime), s.By)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return remainders(ctx, c, d, all)
}

// readStatus reads how a run stands.
func readStatus(ctx context.Context, d *runs.Service, r durable.Run) (Status, error) {
	st, err := d.State(ctx, r.ID)
	if err != nil {
		return Status{}, err
	}
	now, err := summaryOf(r)
	if err != nil {
		return Status{}, err
	}
	s := statusOf(r.ID, st, now)
	s.Unreleased, err = execute.Unreleased(ctx, d.Service, r.ID, st)
	return s, err
}

// remainders says what runs have left undone on their clusters, and which they have not given back.
func remainders(ctx context.Context, c console.Streams, d *runs.Service, all []Status) error {
	seen := map[string]bool{}
	for _, s := range all {
		tellUnreleased(c, s)
		for _, name := range s.clusters {
			if seen[name] {
				continue
			}
			seen[name] = true
			open, err := d.OpenRemainders(ctx, name)
			if err != nil {
				return err
			}
			for _, m := range open {
				fmt.Fprintln(c.Prose(), execute.NotFixed(m, s.Run))
			}
		}
	}
	return nil
}

func tellUnreleased(c console.Streams, s Status) {
	for _, u := range s.Unreleased {
		fmt.Fprintf(c.Prose(), "not released: %s\n", u)
	}
}

// summaryOf is what was told of a run last; the zero Summary if nothing was.
func summaryOf(r durable.Run) (now journal.Summary, err error) {
	if r.Summary != nil {
		err = json.Unmarshal(r.Summary, &now)
	}
	if err != nil {
		err = fmt.Errorf("read the summary of %s: %w", r.ID, err)
	}
	return now, err
}

func statusOfRun(ctx context.Context, c console.Streams, d *runs.Service, run string, asJSON bool) error {
	r, err := d.Store.Run(ctx, run)
	if err != nil {
		return err
	}
	st, err := d.State(ctx, run)
	if err != nil {
		return err
	}
	now, err := summaryOf(r)
	if err != nil {
		return err
	}
	s := statusOf(run, st, now)
	executed := false
	if st.Outcome == "" {
		if executed, s.Elsewhere, err = d.Executed(ctx, run); err != nil {
			return err
		}
	}
	s.abandon(st.Outcome == "" && !executed)
	status := withNothing(journal.InWords(s.Status), st)
	if s.Unreleased, err = execute.Unreleased(ctx, d.Service, run, st); err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(c, s)
	}
	fmt.Fprintf(c.Prose(), "%s: %s on cluster %s, %s\n", run, s.Runbook, s.Cluster, status)
	if st.Outcome == "" {
		if s.Elsewhere != nil {
			fmt.Fprintln(c.Prose(), s.Elsewhere)
		}
		if !executed {
			fmt.Fprintf(c.Prose(), "no process executes it; %s\n", st.ContinueHint(run))
		} else if now.Status != "" {
			fmt.Fprintln(c.Prose(), howFar(now, r.Told))
		}
	}
	switch stays, _ := st.Stands(); {
	case st.Refused != "":
		fmt.Fprintln(c.Prose(), st.Refused)
	case stays != nil:
		fmt.Fprintln(c.Prose(), st.Why)
	}
	if s.Stop != "" {
		fmt.Fprintln(c.Prose(), s.Stop)
	}
	if advice := failedHint(run, st); advice != "" {
		fmt.Fprintln(c.Prose(), advice)
	}
	tellUnreleased(c, s)
	for _, name := range s.clusters {
		open, err := d.OpenRemainders(ctx, name)
		if err != nil {
			return err
		}
		for _, m := range open {
			if m.Run == run || m.Damage != "" {
				fmt.Fprintln(c.Prose(), execute.NotFixed(m, run))
			}
		}
	}
	for _, said := range journal.NotClaimed(s.Unclaimed) {
		fmt.Fprintln(c.Prose(), said)
	}
	if s.Over != "" {
		fmt.Fprintf(c.Prose(), "gate overridden: %s\n", s.Over)
	}
	tellRehearsals(c.Prose(), "", st.Header)
	if s.Unfit != "" {
		fmt.Fprintln(c.Prose(), s.Unfit)
	}
	for _, reason := range s.Changed {
		fmt.Fprintf(c.Prose(), "it continued with other versions of its actions: %s\n", reason)
	}
	w := tabwriter.NewWriter(c.Prose(), 0, 0, 2, ' ', 0)
	for _, step := range s.Steps {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", step.Step, journal.InWords(step.Phase), step.words())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, step := range s.Steps {
		if step.Phase == journal.StepAsking {
			if i := st.Item(step.Step); i != nil && journal.ByAnother(st, i) {
				fmt.Fprintln(c.Prose(), howAnother(run, st, step.Step))
				fmt.Fprintf(c.Prose(), "plimsoll runbook reject %s --step %s rejects it\n", run, hint.Quoted(step.Step))
				continue
			}
			fmt.Fprintf(c.Prose(), "plimsoll runbook approve %[1]s --step %[2]s approves it, plimsoll runbook reject %[1]s --step %[2]s rejects it\n", run, hint.Quoted(step.Step))
		}
	}
	return nil
}
