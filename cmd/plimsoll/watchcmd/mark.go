package watchcmd

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/settings"
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
come soon after it. A program can do the same with POST /api/marks of plimsoll serve, or of plimsoll watch with --listen.`,
		Example: `  plimsoll watch mark "shop 4.2 deployed"
  plimsoll watch mark "backup moved to 02:00" --on orders --at 14:05`,
		Args: console.Exactly("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return addMark(cmd.Context(), c, args[0], o, time.Now())
		},
	}
	cmd.Flags().StringVar(&o.on, "on", "", "only on the curves of this instance (CLUSTER/NODE) or cluster")
	cmd.Flags().StringVar(&o.at, "at", "", "when it happened: 14:05, 2026-11-27 14:05, or 20m for 20 minutes ago (default now)")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func addMark(ctx context.Context, c console.Streams, what string, o markOptions, now time.Time) error {
	at := now
	if o.at != "" {
		var err error
		if at, err = momentOf(o.at, now); err != nil {
			return console.UsageError{Text: fmt.Sprintf("--at %q, expected such as 14:05 or 20m", o.at)}
		}
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	known, err := namesOf(ctx, o.on, deps)
	if err != nil {
		return err
	}
	m, err := watch.NewMark(what, o.on, at, now, known)
	if err != nil {
		return console.UsageError{Text: err.Error()}
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

// namesOf are the instances among which one or a cluster of that name is looked for: those of the inventory and of labs, and only if it is not
// among them also those at AWS. No instance is asked anything.
func namesOf(ctx context.Context, on string, deps lab.Deps) (known []watch.Instance, err error) {
	if on == "" {
		return nil, nil
	}
	inv, err := inventory.Open()
	if err != nil {
		return nil, err
	}
	add := func(cluster, node string) {
		known = append(known, watch.Instance{Name: cluster + "/" + node, Cluster: cluster})
	}
	for name, c := range inv.Clusters {
		for _, n := range c.Nodes {
			add(name, n.Name)
		}
	}
	made, err := lab.List(ctx, deps)
	if err != nil {
		return nil, err
	}
	for _, c := range made {
		for _, n := range c.Nodes {
			add(home.Called(home.LabPrefix+c.Name, inv), n.Name)
		}
	}
	if slices.ContainsFunc(known, func(i watch.Instance) bool { return i.Name == on || i.Cluster == on }) {
		return known, nil
	}
	set, err := settings.Read(settings.File)
	if err != nil {
		return nil, err
	}
	find := Finder{Deps: deps, Set: set, Log: slog.New(slog.DiscardHandler)}
	there, err := find.atAWS(ctx, inv)
	for _, s := range there {
		known = append(known, s.Instance)
	}
	return known, err
}
