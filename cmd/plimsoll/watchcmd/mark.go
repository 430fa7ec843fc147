package watchcmd

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/watch"
)

type markOptions struct {
	on, at string
	json   bool
}

func newMark(c console.Streams) *cobra.Command {
	var o markOptions
	cmd := &cobra.Command{
		Use:   "mark TEXT",
		Short: "Mark a moment on the curves: a deployment, the beginning of a sale",
		Long: `Record an event that the watch cannot see itself. The mark is shown on every curve, in the list of changes, and on alerts that
come soon after it. A program can do the same with POST /api/marks of plimsoll serve, or of plimsoll watch --listen.`,
		Example: `  plimsoll watch mark "shop 4.2 deployed"
  plimsoll watch mark "backup moved to 02:00" --on orders --at 14:05`,
		Args: console.Exactly("TEXT"),
		RunE: func(_ *cobra.Command, args []string) error { return addMark(c, args[0], o, time.Now()) },
	}
	cmd.Flags().StringVar(&o.on, "on", "", "only on the curves of this instance (CLUSTER/NODE) or cluster")
	cmd.Flags().StringVar(&o.at, "at", "", "when it happened: 14:05, 2026-11-27 14:05, or 20m for 20 minutes ago (default now)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func addMark(c console.Streams, what string, o markOptions, now time.Time) error {
	at := now
	if o.at != "" {
		var err error
		if at, err = momentOf(o.at, now); err != nil {
			return console.UsageError{Text: fmt.Sprintf("--at %q, expected such as 14:05 or 20m", o.at)}
		}
	}
	m, err := watch.NewMark(what, o.on, at, now)
	if err != nil {
		return console.UsageError{Text: err.Error()}
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	if err := watch.OpenChanges(filepath.Join(home.WatchFolder(deps), "changes.jsonl")).Add(m); err != nil {
		return err
	}
	if o.json {
		return console.PrintJSON(c, m)
	}
	fmt.Fprintf(c.Err, "marked at %s\n", m.At.Local().Format(time.DateTime))
	return nil
}
