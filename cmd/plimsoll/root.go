package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// program is the whole program but for the process around it.
func program(ctx context.Context, args []string, c console) int {
	root := newRoot(c)
	root.SetArgs(args)
	return tell(c, root.ExecuteContext(ctx))
}

func newRoot(c console) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Prove a database change before you make it",
		Long: `Plimsoll proves a change to a database before you make it: it starts real servers in a lab, puts them under load,
makes the change, measures each phase, and gives a verdict with a confidence interval.`,
		Example: `  plimsoll trial run examples/binlog-cost/trial.yaml --quick
  plimsoll lab up mariadb --nodes 2
  plimsoll load run --target mysql://root@127.0.0.1:3306/test --workload oltp_point_select --connections 16 --duration 30s`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	inventoryFlag(root)
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{text: plainFlagError(err), hint: cmd.CommandPath() + " --help"}
	})
	root.AddCommand(newInit(c))
	root.AddCommand(newTrial(c), newLab(c), newLoad(c), newRunbook(c), newSeries(c), newSuperdisk(c))
	root.AddCommand(newMachine(c))
	refuseUnknown(root)
	for _, noun := range root.Commands() {
		refuseUnknown(noun)
	}
	root.AddCommand(newWatch(c), newAdvise(c), newPrices(c), newSchema(c), newVersion(c), newCompletion(c), newMan(c), newServe(c))
	root.DisableAutoGenTag = true // a manual page names its release, not the day on which it was written
	return root
}

// plainFlagError is what is wrong with a flag, without the function of Go that found it out.
func plainFlagError(err error) string {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err.Error()
	}
	expected := map[string]string{
		"int": "a whole number", "uint64": "a whole number from 0", "duration": "a time such as 30s", "bool": "true or false",
	}[value.GetFlag().Value.Type()]
	return fmt.Sprintf("--%s %q, expected %s", value.GetFlag().Name, value.GetValue(), expected)
}

// onlyNoun marks the commands that do nothing themselves.
const onlyNoun = "noun"

// refuseUnknown makes a noun without a verb show its help and refuse a verb that it does not have.
func refuseUnknown(noun *cobra.Command) {
	noun.Annotations = map[string]string{onlyNoun: "true"}
	noun.Args = cobra.ArbitraryArgs
	noun.SuggestionsMinimumDistance = 2
	noun.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		hint := cmd.CommandPath() + " --help"
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
		}
		return usageError{text: "unknown command " + cmd.CommandPath() + " " + args[0], hint: hint}
	}
}

// exactly is cobra.ExactArgs that says what is expected.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usageError{text: "expected " + cmd.UseLine(), hint: cmd.CommandPath() + " --help"}
	}
}

// version is the module's version, or the commit it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
