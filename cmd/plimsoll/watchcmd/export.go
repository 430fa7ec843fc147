package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/watch"
	"plimsoll/watch/export"
	"plimsoll/watch/store"
)

type exportOptions struct {
	from, to, out string
	series        []string
	json          bool
}

func newExport(c console.Streams) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export CLUSTER",
		Short: "Export a period of the watch as a result folder",
		Long: `Write a result folder with what the watch recorded of a cluster between two moments: the statements of each instance second by second,
signals, and changes. trial compare compares two of them, such as a Monday and the Monday after a change. A moment is a time of day, a
date and a time, or how long ago: 14:00, 2026-05-04T14:00, 2h.

The command reads the series while the watch keeps writing them.`,
		Example: `  plimsoll watch export orders --from 14:00 --to 14:30
  plimsoll watch export orders --from 2h --to 1h --out results/before
  plimsoll watch export orders --from 30m --series 'slow=rate(mysql_global_status_slow_queries[1m])'`,
		Args:              console.Exactly("CLUSTER"),
		ValidArgsFunction: home.CompleteCluster,
		RunE:              func(cmd *cobra.Command, args []string) error { return runWatchExport(cmd.Context(), c, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "when it begins")
	f.StringVar(&o.to, "to", "", "when it ends (default now)")
	f.StringVar(&o.out, "out", "", "the folder to write (default results/watched-CLUSTER/FROM)")
	f.StringArrayVar(&o.series, "series", nil, "one more signal, NAME=EXPRESSION in PromQL; may be repeated")
	f.BoolVar(&o.json, "json", false, "print JSON")
	_ = cmd.MarkFlagRequired("from") // it is there
	return cmd
}

func runWatchExport(ctx context.Context, c console.Streams, cluster string, o exportOptions) (err error) {
	now := time.Now()
	from, err := momentOf(o.from, now)
	if err != nil {
		return console.UsageError{Text: fmt.Sprintf("--from %q, expected such as 14:00, 2026-05-04T14:00 or 2h", o.from)}
	}
	to := now
	if o.to != "" {
		if to, err = momentOf(o.to, now); err != nil {
			return console.UsageError{Text: fmt.Sprintf("--to %q, expected such as 14:30, 2026-05-04T14:30 or 1h", o.to)}
		}
	}
	if !to.After(from) {
		return console.UsageError{Text: fmt.Sprintf("it ends at %s, before it begins at %s", to.Format(time.DateTime), from.Format(time.DateTime))}
	}
	ask := export.Options{Cluster: strings.TrimPrefix(cluster, home.LabPrefix), From: from.Truncate(time.Second), To: to.Truncate(time.Second), Series: map[string]string{}, Version: home.Version(), Command: os.Args}
	for _, one := range o.series {
		name, expr, named := strings.Cut(one, "=")
		if !named || name == "" || strings.ContainsAny(name, "({ ") {
			return console.UsageError{Text: fmt.Sprintf("--series %q, expected NAME=EXPRESSION", one)}
		}
		ask.Series[name] = expr
	}
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	folder := home.WatchFolder(deps)
	kept, err := store.Look(filepath.Join(folder, "series"))
	if err != nil {
		return hint.With(err, "plimsoll watch records them while it runs")
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	if ask.Changes, err = changesOf(watch.OpenChanges(filepath.Join(folder, "changes.jsonl")), ask); err != nil {
		return err
	}
	if o.out == "" {
		o.out = filepath.Join(home.NewResultsFolder(), "watched-"+home.SafeName(ask.Cluster), ask.From.Local().Format("2006-01-02T15-04-05"))
	}
	s, err := export.Write(ctx, kept, o.out, ask)
	if err != nil {
		return err
	}
	if o.json {
		return console.PrintJSON(c, s)
	}
	fmt.Fprintln(c.Out, s.Dir)
	fmt.Fprintf(c.Err, "%d instances, %d statements, %d signals, from %s to %s\n", len(s.Instances), s.Statements, s.Signals, s.From.Local().Format(time.DateTime), s.To.Local().Format(time.TimeOnly))
	return nil
}

// changesOf are those of a cluster's instances, and marks.
func changesOf(log *watch.ChangeLog, o export.Options) ([]watch.Change, error) {
	all, err := log.Between("", o.From, o.To)
	var its []watch.Change
	for _, one := range all {
		if cluster, _, _ := strings.Cut(one.Instance, "/"); cluster == "" || cluster == o.Cluster {
			its = append(its, one)
		}
	}
	return its, err
}

// momentOf reads a moment: a time of this day, a date and time, or how long before now.
func momentOf(text string, now time.Time) (time.Time, error) {
	if back, err := store.Duration(text); err == nil {
		return now.Add(-back), nil
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, now.Location()), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a moment", text)
}
