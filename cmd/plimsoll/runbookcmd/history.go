package runbookcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/journal"
)

func newHistory(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "history RUN", Short: "Show everything that happened in a run, event by event", Args: console.Exactly("RUN"),
		Example: "  plimsoll runbook history rolling-restart-a1b2c3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				entries, err := d.Store.Entries(ctx, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return console.PrintJSON(c, entries)
				}
				for _, entry := range entries {
					var e journal.Event
					if err := json.Unmarshal(entry.Data, &e); err != nil {
						return fmt.Errorf("read entry %d: %w", entry.Number, err)
					}
					writeEvent(c.Out, entry.Number, entry.At, e)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the entries as they are, with their hashes")
	return cmd
}

// kinds are the words for events, for people. --json has the kinds as they are kept.
var kinds = map[journal.Kind]string{
	journal.Began: "run started", journal.Opened: "process started", journal.Targeted: "targets", journal.Ready: "cluster healthy", journal.Valued: "inputs",
	journal.Checked: "checked", journal.Asked: "waiting for approval", journal.Approved: "approved", journal.Intended: "step started", journal.Acted: "step executed",
	journal.Cut: "step interrupted", journal.Verified: "step verified", journal.Failed: "step failed", journal.Held: "paused", journal.Freed: "continued",
	journal.Undoing: "undo started", journal.Undone: "undone", journal.Stuck: "not undone", journal.Said: "note", journal.Stopping: "cancelled",
	journal.Parked: "process ended", journal.Ended: "run ended",
}

// inWords is what happened in an event, in a word or two.
func inWords(e journal.Event) string {
	switch {
	case e.Kind == journal.Valued && e.Skip:
		return "step skipped"
	case e.Kind == journal.Stopping && e.Error != "":
		return "undoing the run"
	}
	return cmp.Or(kinds[e.Kind], string(e.Kind))
}

// writeEvent writes an event in a line, and the rehearsals that opened the gate below that of the beginning.
func writeEvent(w io.Writer, number int, at time.Time, e journal.Event) {
	fmt.Fprintf(w, "%4d %s %-20s %s\n", number, at.Local().Format(time.DateTime), inWords(e), strings.Join(describe(e), " "))
	if e.Header != nil {
		tellRehearsals(w, "     ", *e.Header)
	}
}

// describe is the rest of an event's line.
func describe(e journal.Event) []string {
	var words []string
	say := func(text string) {
		if text != "" {
			words = append(words, text)
		}
	}
	add := func(format string, args ...any) { say(fmt.Sprintf(format, args...)) }
	say(e.Step)
	switch {
	case e.Header != nil:
		add("%s on %s by %s, plan %s", e.Header.Runbook, e.Header.Cluster, e.Header.By, e.Header.Plan.Hash)
		if e.Header.Override != "" {
			add("GATE OVERRIDDEN: %s", e.Header.Override)
		}
	case e.Order != nil:
		add("to %s", e.Order.Do)
		say(e.Order.Step)
		add("by %s", e.Order.By)
		say(e.Order.Reason)
		if e.Order.Changed != "" {
			add("ACTIONS CHANGED, CONTINUES: %s:", e.Order.Changed)
		}
	case e.Finding != nil:
		say(journal.FoundInWords(e.Finding.State))
		if len(e.Finding.Observed) > 0 {
			say(facts(e.Finding.Observed))
		}
		say(e.Finding.Reason)
	case e.Error != "":
		say(e.Error)
	case len(e.Targets) > 0:
		say(strings.Join(e.Targets, ", "))
	case e.Kind == journal.Asked:
		say(cmp.Or(e.Caution, e.Note))
	case e.Outcome != "":
		add("%s", e.Outcome)
	}
	if e.Attempt > 0 {
		add("attempt %d", e.Attempt)
	}
	if e.By != "" {
		add("by %s", e.By)
	}
	say(e.Reason)
	say(e.Reached)
	for _, said := range journal.NotClaimed(e.Unclaimed) {
		say(said)
	}
	if len(e.Output) > 0 {
		add("→ %s", facts(e.Output))
	}
	return words
}
