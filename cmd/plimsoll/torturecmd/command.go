// Package torturecmd has plimsoll runbook torture, and what its child processes do.
package torturecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/faulttest"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	var q runbookcmd.Request
	var asJSON, yes bool
	var pause time.Duration
	var before, kinds []string
	var undoKills int
	cmd := &cobra.Command{
		ValidArgsFunction: runbookcmd.CompleteRunbooks,
		Use:               "torture RUNBOOK", Short: "Test a runbook on a lab with crashes, repeats and undos", Args: console.Exactly("RUNBOOK"),
		Long: `Test a runbook on a lab cluster: run every act twice; fail every step after it acted, and undo it; kill Plimsoll at every
journal write; pause the owner while another run takes the cluster, from the same store and then from another host; kill the
undo at every journal write too. After each run the cluster itself is checked: one server accepts writes, every other follows
it, and no claim is left. Steps that were not repeatable, not undone or not fenced are reported. Plimsoll copies the lab first, restores
it whenever a test leaves something that cannot be undone, and leaves the lab as it was.`,
		Example: "  plimsoll runbook torture mysql/rolling-restart --cluster demo\n" +
			"  plimsoll runbook torture mysql/cut-back -i from=n2 -i to=n1 --cluster pair --before 'mysql/cut-over from=n1 to=n2'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.Cluster == "" {
				return console.UsageError{Text: "no lab cluster was given", Hint: "plimsoll runbook torture " + hint.Quoted(args[0]) + " --cluster NAME; plimsoll lab list names the clusters"}
			}
			if err := knownKinds(kinds); err != nil {
				return err
			}
			if err := console.Confirm(c, yes, "Run the crash tests on cluster "+q.Cluster+"? They stop and restore it many times."); err != nil {
				return err
			}
			o, err := torture(cmd.Context(), c, &q, args[0], before, kinds, pause, undoKills)
			if err != nil {
				return err
			}
			return showReport(c, o, asJSON)
		},
	}
	q.Flags(cmd)
	cmd.Flags().StringArrayVar(&before, "before", nil, "`'RUNBOOK NAME=VALUE …'` that brings the lab into a state where the runbook has something to do; may be repeated")
	cmd.Flags().StringSliceVar(&kinds, "tries", nil, "only these `KINDS`: "+strings.Join(faulttest.TortureKinds, ","))
	cmd.Flags().DurationVar(&pause, "pause", 2*time.Minute, "how long the owner is paused, at least until its lease has expired")
	cmd.Flags().IntVar(&undoKills, "undo-kills", 0, "kill undos only so many times, spread over the run and its undo; 0: at each of their writes")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// knownKinds refuses kinds of tries that there are none of.
func knownKinds(kinds []string) error {
	for _, k := range kinds {
		if !slices.Contains(faulttest.TortureKinds, k) {
			return console.UsageError{Text: "--tries: there is no kind " + strconv.Quote(k), Hint: "they are " + strings.Join(faulttest.TortureKinds, ", ")}
		}
	}
	return nil
}

func torture(ctx context.Context, c console.Streams, q *runbookcmd.Request, name string, before, kinds []string, pause time.Duration, undoKills int) (_ faulttest.Report, err error) {
	deps, err := home.LabDeps()
	if err != nil {
		return faulttest.Report{}, err
	}
	book, err := runs.ReadRunbook(name)
	if err != nil {
		return faulttest.Report{}, err
	}
	said, err := q.Said()
	if err != nil {
		return faulttest.Report{}, err
	}
	if err := onlyLabs(ctx, q.Cluster, deps); err != nil {
		return faulttest.Report{}, err
	}
	none := &inventory.Inventory{} // only labs are tortured
	q.Cluster = home.Called(q.Cluster, none)
	self, err := os.Executable()
	if err != nil {
		return faulttest.Report{}, fmt.Errorf("find this program: %w", err)
	}
	folder, err := os.MkdirTemp("", "plimsoll-torture-")
	if err != nil {
		return faulttest.Report{}, fmt.Errorf("make a folder for the tries: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	on := &tortureLab{name: q.Cluster, deps: deps}
	v := Victim{Program: self, Runbook: name, Cluster: q.Cluster, Inputs: q.Inputs, Pause: pause}
	t := faulttest.Torture{
		Request: execute.Request{Book: book, Cluster: q.Cluster, Inputs: said}, Folder: folder, Actions: catalog.Actions(),
		Pause: pause, Settle: time.Minute, Kinds: kinds, UndoKills: undoKills,
		Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			return home.OpenCluster(ctx, name, none, deps)
		},
		ClusterLock: catalog.ClusterLock, Save: on.save, Restore: on.restore, Elsewhere: on.elsewhere,
		Say: func(text string) { fmt.Fprintln(c.Err, text) },
		Child: func(ctx context.Context, store string, at durable.Moment, asleep func(context.Context) error) (faulttest.Fate, error) {
			return RunChild(ctx, v, store, at, asleep)
		},
		Cancel: func(ctx context.Context, store, run string, at durable.Moment) (faulttest.Fate, error) {
			canceller := v
			canceller.Cancels = run
			return RunChild(ctx, canceller, store, at, nil)
		},
	}
	if t.Before, err = Firsts(before, q.Cluster); err != nil {
		return faulttest.Report{}, err
	}
	return t.Run(ctx)
}

// onlyLabs refuses a cluster that the inventory knows and the lab does not.
func onlyLabs(ctx context.Context, name string, deps lab.Deps) error {
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	if c, is := inv.Clusters[name]; is && !slices.Contains(home.ClusterNames(ctx, &inventory.Inventory{}, deps), name) {
		product := c.Product
		if product == "cql" { // no lab has one of that name
			product = "cassandra"
		}
		return console.UsageError{Text: "cluster " + name + " is one of the inventory, and only clusters of the lab are tortured",
			Hint: fmt.Sprintf("create one like it and name that: plimsoll lab up %s --nodes %d --name %s-like", product, len(c.Nodes), name)}
	}
	return nil
}

// Firsts reads what is to run before each try.
func Firsts(texts []string, cluster string) (all []execute.Request, err error) {
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, console.UsageError{Text: "--before names no runbook", Hint: "such as --before 'mysql/failover checks=3'"}
		}
		r := execute.Request{Cluster: cluster}
		if r.Book, err = runs.ReadRunbook(words[0]); err != nil {
			return nil, err
		}
		if r.Inputs, err = (&runbookcmd.Request{Inputs: words[1:]}).Said(); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func showReport(c console.Streams, o faulttest.Report, asJSON bool) error {
	if asJSON {
		if err := console.PrintJSON(c, o); err != nil {
			return err
		}
	} else {
		for _, t := range o.Troubles {
			fmt.Fprintf(c.Out, "%s: %s %s\n", t.Test, t.Step, t.Text)
		}
		for _, id := range o.Stays {
			fmt.Fprintf(c.Out, "step %s is irreversible, or the runbook has no undo for it: an undo stops there\n", id)
		}
		for _, id := range o.Asks {
			fmt.Fprintf(c.Out, "step %s asks for a person when it is cut off\n", id)
		}
		for _, id := range o.Untried {
			fmt.Fprintf(c.Out, "step %s was not tested: it found nothing to do\n", id)
		}
		fmt.Fprintf(c.Out, "the undo was killed %d times; the cluster itself was checked %d times\n", o.Undos, o.Looks)
		fmt.Fprintf(c.Out, "%d tests in %s, the lab was restored %d times; a killed run continued within %s: %d problems\n",
			o.Tries, o.Took.Round(time.Second), o.Restored, o.Resumed.Round(time.Millisecond), len(o.Troubles))
	}
	if len(o.Troubles) > 0 {
		return console.WithCode{Code: console.ExitFail}
	}
	return nil
}
