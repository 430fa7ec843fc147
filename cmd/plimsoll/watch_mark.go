package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/watch"
)

type watchMarkOptions struct {
	on, at string
	json   bool
}

func newWatchMark(c console) *cobra.Command {
	var o watchMarkOptions
	cmd := &cobra.Command{
		Use:   "mark TEXT",
		Short: "Mark a moment on the curves: a deployment, the beginning of a sale",
		Long: `Note that something happened which the watch cannot see itself. The mark stands on every curve, in the list of changes, and on alerts that
come soon after it. A program can do the same with POST /api/marks of plimsoll serve, or of plimsoll watch --listen.`,
		Example: `  plimsoll watch mark "shop 4.2 deployed"
  plimsoll watch mark "backup moved to 02:00" --on orders --at 14:05`,
		Args: exactly("TEXT"),
		RunE: func(_ *cobra.Command, args []string) error { return addMark(c, args[0], o, time.Now()) },
	}
	cmd.Flags().StringVar(&o.on, "on", "", "only on the curves of this instance (CLUSTER/NODE) or cluster")
	cmd.Flags().StringVar(&o.at, "at", "", "when it happened: 14:05, 2026-11-27 14:05, or 20m for 20 minutes ago (default now)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func addMark(c console, what string, o watchMarkOptions, now time.Time) error {
	at := now
	if o.at != "" {
		var err error
		if at, err = momentOf(o.at, now); err != nil {
			return usageError{text: fmt.Sprintf("--at %q, expected such as 14:05 or 20m", o.at)}
		}
	}
	m, err := watch.NewMark(what, o.on, at, now)
	if err != nil {
		return usageError{text: err.Error()}
	}
	deps, err := labDeps()
	if err != nil {
		return err
	}
	if err := watch.OpenChanges(filepath.Join(watchFolder(deps), "changes.jsonl")).Add(m); err != nil {
		return err
	}
	if o.json {
		return jsonTo(c, m)
	}
	fmt.Fprintf(c.err, "marked at %s\n", m.At.Local().Format(time.DateTime))
	return nil
}
