package runbookcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/runbook/journal"
)

// What the shell offers. Nothing here asks a database, takes a lock or says an error: a person is in the middle of a line.

// CompleteRunbooks offers the shipped runbooks, and files.
func CompleteRunbooks(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, name := range books.Names() {
		if strings.HasPrefix(name, typed) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRuns offers runs, those that have not ended first, with what each is.
func completeRuns(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var open, ended []string
	_ = runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
		runs, err := d.Store.Runs(ctx)
		for _, r := range runs {
			st, err := d.State(ctx, r.ID)
			if err != nil {
				continue
			}
			line := r.ID + "\t" + st.Header.Runbook + " on " + st.Header.Cluster + ", " + journal.InWords(st.Status())
			if st.Outcome == "" || st.Outcome == journal.RunFailed {
				open = append(open, line)
			} else {
				ended = append(ended, line)
			}
		}
		return err
	})
	return slices.Concat(open, ended), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeSteps offers the steps of the run that stands before.
func completeSteps(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var keys []string
	if len(args) == 1 {
		_ = runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
			st, err := d.State(ctx, args[0])
			if err != nil {
				return err
			}
			for _, i := range st.Items {
				keys = append(keys, i.Key+"\t"+string(journal.ShownPhase(st, i)))
			}
			return nil
		})
	}
	return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeInputs offers NAME= of the runbook's inputs, and behind it the values that are known.
func completeInputs(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	book, err := runs.ReadRunbook(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, _, valued := strings.Cut(typed, "=")
	if !valued {
		var names []string
		for _, name := range document.SortedKeys(book.Inputs) {
			names = append(names, name+"=\t"+book.Inputs[name].About)
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var values []string
	for _, v := range inputValues(cmd, book.Inputs[name]) {
		values = append(values, name+"="+v)
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}

func inputValues(cmd *cobra.Command, in runbook.Input) []string {
	switch {
	case len(in.Enum) > 0:
		return in.Enum
	case in.Type == "boolean":
		return []string{"true", "false"}
	case in.Type == "cluster", in.Type == "clusters":
		return home.ClustersHere(cmd.Context())
	case in.Type == "node" && in.Of == "":
		return home.NodesOf(cmd.Context(), cmd.Flag("cluster").Value.String())
	}
	return nil
}
