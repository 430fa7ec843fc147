package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/runbook"
)

func newRunbookHistory(c console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "history RUN", Short: "Everything that happened in a run, event by event", Args: exactly("RUN"),
		Example: "  plimsoll runbook history rolling-restart-a1b2c3",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd.Context(), func(ctx context.Context, d *desk) error {
				entries, err := d.Store.Entries(ctx, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return jsonTo(c, entries)
				}
				for _, entry := range entries {
					var e runbook.Event
					if err := json.Unmarshal(entry.Data, &e); err != nil {
						return fmt.Errorf("read entry %d: %w", entry.Number, err)
					}
					fmt.Fprintf(c.out, "%4d %s %-9s %s\n", entry.Number, entry.At.Local().Format(time.DateTime), e.Kind, describe(e))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the entries as they are, with their hashes")
	return cmd
}

// describe is the rest of an event's line.
func describe(e runbook.Event) string {
	text := e.Step
	add := func(format string, args ...any) { text += " " + fmt.Sprintf(format, args...) }
	switch {
	case e.Header != nil:
		add("%s on %s by %s, plan %s", e.Header.Runbook, e.Header.Cluster, e.Header.By, e.Header.Plan.Hash)
		if e.Header.Override != "" {
			add("GATE PASSED BY: %s", e.Header.Override)
		}
	case e.Order != nil:
		add("to %s %s by %s %s", e.Order.Do, e.Order.Step, e.Order.By, e.Order.Reason)
	case e.Finding != nil:
		add("%s %s %s", e.Finding.State, facts(e.Finding.Observed), e.Finding.Reason)
	case e.Error != "":
		add("%s", e.Error)
	case e.Outcome != "":
		add("%s", e.Outcome)
	}
	if e.Attempt > 0 {
		add("attempt %d", e.Attempt)
	}
	if e.By != "" {
		add("by %s", e.By)
	}
	if e.Reason != "" {
		add("%s", e.Reason)
	}
	if len(e.Output) > 0 {
		add("→ %s", facts(e.Output))
	}
	return text
}
