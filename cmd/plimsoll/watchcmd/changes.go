package watchcmd

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

func newChanges(c console.Streams) *cobra.Command {
	var since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "changes [INSTANCE]",
		Short: "List changes: settings, versions, tables, sources, restarts, marks",
		Long:  "List the changes that a watch recorded, oldest first, of one instance (CLUSTER/NODE) or of all.",
		Example: `  plimsoll watch changes
  plimsoll watch changes orders/n1 --since 2d`,
		Args: console.Some(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			back, err := store.Duration(since)
			if err != nil {
				return console.UsageError{Text: fmt.Sprintf("--since %q, expected such as 90m, 6h or 2d", since)}
			}
			deps, err := home.LabDeps()
			if err != nil {
				return err
			}
			now := time.Now()
			all, err := watch.OpenChanges(filepath.Join(home.WatchFolder(deps), "changes.jsonl")).Between(append(args, "")[0], now.Add(-back), now)
			if err != nil {
				return err
			}
			return showChanges(c, all, asJSON)
		},
	}
	cmd.Flags().StringVar(&since, "since", "1d", "how far back")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showChanges(c console.Streams, all []watch.Change, asJSON bool) error {
	if asJSON {
		return console.PrintJSON(c, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Err, "the watch recorded no change in that time")
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHEN\tINSTANCE\tKIND\tWHAT\tFROM\tTO")
	for _, change := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", change.At.Local().Format(time.DateTime), orNone(change.Instance), change.Kind, change.What, orNone(change.From), orNone(change.To))
	}
	return w.Flush()
}

func orNone(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
