package main

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
	"plimsoll/durable"
	"plimsoll/inventory"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/faulttest"
)

func newRunbookTorture(c console) *cobra.Command {
	var q request
	var asJSON, yes bool
	var pause time.Duration
	var before, kinds []string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRunbooks,
		Use:               "torture RUNBOOK", Short: "Test a runbook on a lab with crashes, repeats and undos", Args: exactly("RUNBOOK"),
		Long: `Test a runbook on a lab cluster: run every act twice; fail every step after it acted, and undo it; kill Plimsoll at every
journal write; pause the owner while another run takes the cluster, from the same store and then from another host; kill the
undo at every journal write too. After each run the cluster itself is checked: one server accepts writes, every other follows
it, and no claim is left. Steps that were not repeatable, not undone or not fenced are reported. Plimsoll copies the lab first, restores
it whenever a test leaves something that cannot be undone, and leaves the lab as it was.`,
		Example: "  plimsoll runbook torture mysql/rolling-restart --cluster demo\n" +
			"  plimsoll runbook torture mysql/cut-back -i from=n2 -i to=n1 --cluster pair --before 'mysql/cut-over from=n1 to=n2'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if q.cluster == "" {
				return usageError{text: "which lab cluster?", hint: "--cluster NAME"}
			}
			if err := knownKinds(kinds); err != nil {
				return err
			}
			if err := confirm(c, yes, "Work cluster "+q.cluster+" hard?"); err != nil {
				return err
			}
			o, err := torture(cmd.Context(), c, &q, args[0], before, kinds, pause)
			if err != nil {
				return err
			}
			return showOrdeal(c, o, asJSON)
		},
	}
	q.flags(cmd)
	cmd.Flags().StringArrayVar(&before, "before", nil, "`'RUNBOOK NAME=VALUE …'` that brings the lab into a state where the runbook has something to do; may be repeated")
	cmd.Flags().StringSliceVar(&kinds, "tries", nil, "only these `KINDS`: "+strings.Join(faulttest.TortureKinds, ","))
	cmd.Flags().DurationVar(&pause, "pause", 2*time.Minute, "how long the owner is paused, at least until its lease has expired")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// knownKinds refuses kinds of tries that there are none of.
func knownKinds(kinds []string) error {
	for _, k := range kinds {
		if !slices.Contains(faulttest.TortureKinds, k) {
			return usageError{text: "--tries: there is no kind " + strconv.Quote(k), hint: "they are " + strings.Join(faulttest.TortureKinds, ", ")}
		}
	}
	return nil
}

func torture(ctx context.Context, c console, q *request, name string, before, kinds []string, pause time.Duration) (_ faulttest.Report, err error) {
	deps, err := labDeps()
	if err != nil {
		return faulttest.Report{}, err
	}
	book, err := readRunbook(name)
	if err != nil {
		return faulttest.Report{}, err
	}
	said, err := q.said()
	if err != nil {
		return faulttest.Report{}, err
	}
	none := &inventory.Inventory{} // only labs are tortured
	q.cluster = called(q.cluster, none)
	self, err := os.Executable()
	if err != nil {
		return faulttest.Report{}, fmt.Errorf("find this program: %w", err)
	}
	folder, err := os.MkdirTemp("", "plimsoll-torture-")
	if err != nil {
		return faulttest.Report{}, fmt.Errorf("make a folder for the tries: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	on := &tortureLab{name: q.cluster, deps: deps}
	v := victim{program: self, runbook: name, cluster: q.cluster, inputs: q.inputs, pause: pause}
	t := faulttest.Torture{
		Request: execute.Request{Book: book, Cluster: q.cluster, Inputs: said}, Folder: folder, Actions: catalog.Actions(),
		Pause: pause, Settle: time.Minute, Kinds: kinds,
		Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			return openSite(ctx, name, none, deps)
		},
		ClusterLock: catalog.ClusterLock, Save: on.save, Restore: on.restore, Elsewhere: on.elsewhere,
		Say: func(text string) { fmt.Fprintln(c.err, text) },
		Child: func(ctx context.Context, store string, at durable.Moment, asleep func(context.Context) error) (faulttest.Fate, error) {
			return tortureChild(ctx, v, store, at, asleep)
		},
		Cancel: func(ctx context.Context, store, run string, at durable.Moment) (faulttest.Fate, error) {
			canceller := v
			canceller.cancels = run
			return tortureChild(ctx, canceller, store, at, nil)
		},
	}
	if t.Before, err = firsts(before, q.cluster); err != nil {
		return faulttest.Report{}, err
	}
	return t.Run(ctx)
}

// firsts reads what is to run before each try.
func firsts(texts []string, cluster string) (all []execute.Request, err error) {
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, usageError{text: "--before: which runbook?", hint: "--before 'mysql/failover checks=3'"}
		}
		r := execute.Request{Cluster: cluster}
		if r.Book, err = readRunbook(words[0]); err != nil {
			return nil, err
		}
		if r.Inputs, err = (&request{inputs: words[1:]}).said(); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func showOrdeal(c console, o faulttest.Report, asJSON bool) error {
	if asJSON {
		if err := jsonTo(c, o); err != nil {
			return err
		}
	} else {
		for _, t := range o.Troubles {
			fmt.Fprintf(c.out, "%s: %s %s\n", t.Test, t.Step, t.Text)
		}
		for _, id := range o.Stays {
			fmt.Fprintf(c.out, "step %s declares itself irreversible, so an undo stops there\n", id)
		}
		for _, id := range o.Asks {
			fmt.Fprintf(c.out, "step %s asks for a person when it is cut off\n", id)
		}
		for _, id := range o.Untried {
			fmt.Fprintf(c.out, "step %s was not tested: it found nothing to do\n", id)
		}
		fmt.Fprintf(c.out, "the undo was killed %d times; the cluster itself was checked %d times\n", o.Undos, o.Looks)
		fmt.Fprintf(c.out, "%d tests in %s, the lab was restored %d times; a killed run continued within %s: %d problems\n",
			o.Tries, o.Took.Round(time.Second), o.Restored, o.Resumed.Round(time.Millisecond), len(o.Troubles))
	}
	if len(o.Troubles) > 0 {
		return withCode{exitFail}
	}
	return nil
}
