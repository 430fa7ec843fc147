package advisecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/advise"
	"plimsoll/advise/memory"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/report/quantity"
	"plimsoll/watch"
)

func newCheck(c console.Streams) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check CLUSTER",
		Short: "Compare a prediction with the outcome, after a change",
		Long: `Run this after an option of advise, advise memory, advise storage or advise commit was carried out, by a runbook or by hand. It observes the server again and compares the prediction
with the outcome, each with its interval. It recognizes the change by the server's settings and tables: the buffer pool size, the durability of commits, an index.
Reads are compared at today's number of page requests, and after another index at today's number of statements. Each comparison is kept in a scoreboard, which later advice shows.

A new volume or class shows in no server setting. Plimsoll asks RDS for it where plimsoll.yaml names the instance, and a lab for its disks;
elsewhere it takes the inventory's volume, --class and --volume. The limit of a volume is compared only while the service uses all of it.`,
		Example: "  plimsoll advise check shop\n  plimsoll advise check lab:demo --for 30s --json",
		Args:    console.Exactly("CLUSTER"), ValidArgsFunction: home.CompleteCluster,
		RunE: func(cmd *cobra.Command, args []string) error { return adviseCheck(cmd.Context(), c, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.node, "node", "", "which node (default the primary)")
	f.DurationVar(&o.Span, "for", time.Minute, "how long to observe")
	f.BoolVar(&o.json, "json", false, "print JSON")
	f.StringVar(&o.class, "class", "", "present class of the instance (default from RDS)")
	f.StringVar(&o.volume, "volume", "", "present volume of the data, such as gp3:800GiB (default from RDS, the inventory or the lab's disk)")
	return cmd
}

type checkOptions struct {
	memoryOptions

	class, volume string
}

// checked is what a check comes to.
type checked struct {
	New        []advise.Score `json:"new"`
	All        []advise.Score `json:"all"`
	Scoreboard string         `json:"scoreboard"`
}

func adviseCheck(ctx context.Context, c console.Streams, name string, o checkOptions) (err error) {
	if o.Span < 4*time.Second {
		return console.UsageError{Text: fmt.Sprintf("--for %s: expected 4s or more", o.Span)}
	}
	on, inv, deps, err := home.Look(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	made, err := readLines[advise.Report](predictionsFile(deps, on.Name))
	if err != nil {
		return err
	}
	if len(made) == 0 {
		return console.UsageError{Text: "there is no prediction for " + on.Name + " yet", Hint: "plimsoll advise " + on.Name}
	}
	before, err := readLines[advise.Score](scoresFile(deps, on.Name))
	if err != nil {
		return err
	}
	node, err := askedNode(ctx, on, o.node)
	if err != nil {
		return err
	}
	db, err := on.Database(ctx, node.Name)
	if err != nil {
		return err
	}
	runs, err := runsOn(ctx, on, node, inv, o.class, o.volume)
	if err != nil {
		return err
	}
	open, err := carriedOut(ctx, db, runs, made, before, node.Name)
	if err != nil {
		return err
	}
	got := checked{All: before}
	if len(open) > 0 {
		first, err := counted(ctx, db)
		if err != nil {
			return err
		}
		seen, err := lookAtServer(ctx, c, on, node, inv, deps, o.Span)
		if err != nil {
			return err
		}
		last, err := counted(ctx, db)
		if err != nil {
			return err
		}
		if runs.lab != nil && seen.Disk != nil {
			use := seen.Disk.Times(1 / runs.lab.Scale)
			seen.Disk = &use
		}
		for _, p := range open {
			s, can := p.score(seen, first, last)
			if !can {
				continue
			}
			s.At, s.Cluster, s.Node = time.Now(), on.Name, node.Name
			s.Changed = changedAt(deps, on.Name+"/"+node.Name, p)
			if err := appendLine(scoresFile(deps, on.Name), s); err != nil {
				return err
			}
			got.New, got.All = append(got.New, s), append(got.All, s)
		}
	}
	got.Scoreboard = advise.Scoreboard(got.All)
	if o.json {
		return console.PrintJSON(c, got)
	}
	return showChecked(c, got)
}

// prediction is one of an option that was carried out.
type prediction struct {
	made   time.Time
	option advise.Option
	effect advise.Effect
}

// measurable are the effects that can be looked at afterwards.
var measurable = []string{"reads a second from disk", advise.CommitTime, "sustained operations per second"}

// today is what an effect is called now that was called otherwise when it was predicted.
func today(what string) string {
	if what == "time of a commit" {
		return advise.CommitTime
	}
	return what
}

// carriedOut are the predictions of options whose settings the server has now, each once, as it was predicted last before that.
func carriedOut(ctx context.Context, db engine.Database, on running, made []advise.Report, before []advise.Score, node string) (open []prediction, err error) {
	shown, ok := engine.As[engine.Configurable](db)
	if !ok {
		return nil, errors.New("this engine shows no settings")
	}
	done := map[string]bool{}
	for _, r := range slices.Backward(made) {
		if r.Node != node {
			continue
		}
		for _, f := range r.Findings {
			for _, o := range f.Options {
				if len(o.When) == 0 && o.Class == "" && o.Volume == "" && o.Index == nil || done[o.Name] || !on.is(o) {
					continue
				}
				is, err := holds(ctx, shown, o.When)
				if err != nil {
					return nil, err
				}
				has, err := hasIndex(ctx, db, o.Index)
				if err != nil {
					return nil, err
				}
				if !is || !has {
					continue
				}
				done[o.Name] = true
				for _, e := range o.Effects {
					e.What = today(e.What)
					known := slices.ContainsFunc(before, func(s advise.Score) bool { return s.Made.Equal(r.At) && s.Option == o.Name && today(s.What) == e.What })
					if slices.Contains(measurable, e.What) && !known {
						open = append(open, prediction{r.At, o, e})
					}
				}
			}
		}
	}
	return open, nil
}

func holds(ctx context.Context, db engine.Configurable, settings map[string]string) (bool, error) {
	for name, want := range settings {
		shown, err := db.Setting(ctx, name)
		if err != nil {
			return false, fmt.Errorf("read the setting %s: %w", name, err)
		}
		if !db.SameValue(name, want, shown) {
			return false, nil
		}
	}
	return true, nil
}

// hasIndex tells whether a table has an index on these columns, under whatever name; of none asked for, yes.
func hasIndex(ctx context.Context, db engine.Database, want *advise.Index) (bool, error) {
	if want == nil {
		return true, nil
	}
	shows, ok := engine.As[engine.StatementReading](db)
	if !ok {
		return false, nil
	}
	database, table, _ := strings.Cut(want.Table, ".")
	shape, err := shows.TableShape(ctx, database, table)
	if class := engine.ClassOf(err); class == engine.Missing || class == engine.Denied {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, there := shape.Indexes[want.Replaces]; there {
		return false, nil // the server may go on using it
	}
	for _, columns := range shape.Indexes {
		if slices.Equal(columns, want.Columns) {
			return true, nil
		}
	}
	return false, nil
}

// counts are those of the server's cache at a time.
type counts struct {
	at    time.Time
	cache engine.PageCache
	known bool
}

func counted(ctx context.Context, db engine.Database) (c counts, err error) {
	pages, ok := engine.As[engine.PageCaching](db)
	if !ok {
		return c, nil
	}
	c.at, c.known = time.Now(), true
	c.cache, err = pages.PageCache(ctx)
	return c, err
}

// most is by how much the load may differ before a comparison says little.
const most = 1.5

// score puts a prediction beside what was seen; false where the server does not show it.
func (p prediction) score(seen *advise.Seen, first, last counts) (s advise.Score, can bool) {
	e := p.effect
	s = advise.Score{
		Made: p.made, Option: p.option.Name, What: e.What, Unit: e.Unit, Before: e.Now,
		Predicted: advise.Figure{Mean: e.Then, Low: e.Low, High: e.High}, Load: 1,
	}
	switch e.What {
	case "reads a second from disk":
		if !first.known || last.at.Sub(first.at) <= 0 {
			return s, false
		}
		over := last.at.Sub(first.at).Seconds()
		reads, work := float64(last.cache.Read-first.cache.Read)/over, float64(last.cache.Requests-first.cache.Requests)/over
		half := 1.645 * math.Sqrt(max(reads*over, 1)) / over // of counts that come by chance
		s.Came = advise.Figure{Mean: reads, Low: max(reads-half, 0), High: reads + half}
		if e.LoadOf == advise.Executions {
			work = float64(last.cache.Statement-first.cache.Statement) / over
		}
		if e.Load > 0 {
			s.Load, s.Scaled, s.LoadOf = work/e.Load, true, e.LoadOf
			s.Predicted = advise.Figure{Mean: e.Then * s.Load, Low: e.Low * s.Load, High: e.High * s.Load}
		}
		switch {
		case memory.Warming(first.cache, last.cache) != nil:
			s.Doubt = memory.Warming(first.cache, last.cache).Told() + ": check again " + advise.WarmUpEnds
		case last.cache.Free > last.cache.Pages/20 && last.cache.Data < last.cache.Pages/2:
			s.Doubt = "the buffer pool is not full yet: check again when it is warm"
		}
	case "sustained operations per second":
		if seen.Disk == nil {
			return s, false
		}
		half := counting(*seen.Disk)
		s.Came = advise.Figure{Mean: seen.Disk.Peak, Low: min(seen.Disk.IOPS.High, seen.Disk.Peak) - half, High: seen.Disk.Peak + half + uncounted(seen)}
		if seen.Disk.Peak < 0.9*e.Then {
			s.Doubt = fmt.Sprintf("the service uses %.0f of the predicted limit of %.0f: only a higher load would test the prediction", seen.Disk.Peak, e.Then)
		}
		return s, true
	case advise.CommitTime:
		if seen.Commit == nil || seen.Commit.Total == nil {
			return s, false
		}
		s.Came = *seen.Commit.Total
		if e.Load > 0 {
			s.Load = seen.Commit.Rate.Mean / e.Load
		}
	}
	if s.Doubt == "" && (s.Load > most || s.Load < 1/most) && !(e.What == advise.CommitTime && s.Load > 1) { // faster commits are more
		s.Doubt = fmt.Sprintf("the load is %.2g times that of the prediction", s.Load)
	}
	return s, true
}

// counting is how exactly ten seconds' operations are known as a rate: as well as a count that comes by chance.
func counting(use advise.DiskUse) float64 {
	const over = 10 // seconds
	scale := cmp.Or(use.Scaled, 1)
	return 1.645 * math.Sqrt(over*use.Peak/scale) / over * scale
}

// uncounted is how many operations a second of its logs a server may have made that it does not count: up to two for each commit.
func uncounted(seen *advise.Seen) float64 {
	if seen.Disk.Counted || seen.Commit == nil || !strings.Contains(strings.ToLower(seen.Product), "mariadb") {
		return 0
	}
	return 2 * seen.Commit.Rate.Mean
}

// changedAt is when watching saw the change; zero: it did not.
func changedAt(deps lab.Deps, instance string, p prediction) time.Time {
	all, err := watch.OpenChanges(filepath.Join(home.WatchFolder(deps), "changes.jsonl")).Between(instance, p.made, time.Now())
	if err != nil {
		return time.Time{}
	}
	for _, change := range slices.Backward(all) {
		if _, is := p.option.When[change.What]; is {
			return change.At
		}
	}
	return time.Time{}
}

func showChecked(c console.Streams, got checked) error {
	if len(got.New) == 0 {
		fmt.Fprintln(c.Out, "No option of earlier advice was carried out since the last check, or the server does not show it.")
	} else {
		w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "OPTION\tWHAT\tBEFORE\tPREDICTED\tMEASURED\tERROR\t")
		for _, s := range got.New {
			unit := quantity.Unit(s.Unit)
			held := "held"
			if !s.Held() {
				held = "did not hold"
			}
			off := fmt.Sprintf("%+.0f %%", 100*s.Off())
			if s.Doubt != "" { // then it is no error
				off, held = "–", s.Doubt
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Option, s.What, unit.Format(s.Before), between(unit, s.Predicted), between(unit, s.Came), off, held)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, s := range got.New {
			if s.Scaled && math.Abs(s.Load-1) > 0.05 {
				fmt.Fprintf(c.Out, "%s: the prediction is scaled to today's %s, %.2f times those at the time.\n", s.Option, cmp.Or(string(s.LoadOf), "page requests"), s.Load)
			}
			if !s.Changed.IsZero() {
				fmt.Fprintf(c.Out, "%s: plimsoll watch recorded the change at %s.\n", s.Option, s.Changed.UTC().Format("2006-01-02 15:04:05 MST"))
			}
		}
	}
	if got.Scoreboard != "" {
		fmt.Fprintln(c.Prose(), got.Scoreboard)
	}
	return nil
}

func between(unit quantity.Unit, f advise.Figure) string {
	return fmt.Sprintf("%s (%s to %s)", unit.Format(f.Mean), unit.Format(f.Low), unit.Format(f.High))
}
