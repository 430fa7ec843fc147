package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/advisecmd"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/labcmd"
	"plimsoll/cmd/plimsoll/loadcmd"
	"plimsoll/cmd/plimsoll/machinecmd"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/cmd/plimsoll/seriescmd"
	"plimsoll/cmd/plimsoll/servecmd"
	"plimsoll/cmd/plimsoll/superdiskcmd"
	"plimsoll/cmd/plimsoll/torturecmd"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/cmd/plimsoll/watchcmd"
	"plimsoll/internal/document"
)

// program is the whole program but for the process around it.
func program(ctx context.Context, args []string, c console.Streams) int {
	home.SetRelease(release)
	c.Given = &console.Given{}
	c.Err = c.Given.On(c.Err)
	root := newRoot(c)
	root.SetArgs(args)
	return console.Tell(c, root.ExecuteContext(torturecmd.UnderTorture(ctx)))
}

func newRoot(c console.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "plimsoll",
		Short: "Prove a database change before you make it",
		Long: `Plimsoll proves a change to a database before you make it: it starts real servers in a lab, puts them under load,
makes the change, measures each phase, and gives a verdict with a confidence interval.`,
		Example: `  plimsoll trial run examples/binlog-cost/trial.yaml --quick
  plimsoll lab up mariadb --nodes 2
  plimsoll load run --target mysql://root@127.0.0.1:3306/test --workload oltp_point_select --connections 16 --duration 30s`,
		Version:       home.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	recordFlag(root)
	inventoryFlag(root, c.Given)
	root.SetIn(c.In)
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return console.UsageError{Text: plainFlagError(err), Hint: meantFlag(cmd, err) + cmd.CommandPath() + " --help"}
	})
	root.AddCommand(newInit(c))
	root.AddCommand(trialcmd.Command(c), labcmd.Command(c), loadcmd.Command(c), runbookcmd.Command(c, torturecmd.Command(c)), seriescmd.Command(c), superdiskcmd.Command(c))
	root.AddCommand(machinecmd.Command(c))
	console.RefuseUnknown(root)
	for _, noun := range root.Commands() {
		console.RefuseUnknown(noun)
	}
	root.AddCommand(watchcmd.Command(c), advisecmd.Command(c), newPrices(c), newSchema(c), newVersion(c), newCompletion(c), newMan(c), servecmd.Command(c))
	root.DisableAutoGenTag = true // a manual page names its Release, not the day on which it was written
	return root
}

// meantFlag asks whether the flag is meant that is nearest to one that a command does not have.
func meantFlag(cmd *cobra.Command, err error) string {
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := document.Nearest(unknown.GetSpecifiedName(), known); near != "" {
		return "did you mean --" + near + "? "
	}
	return ""
}

// plainFlagError is what is wrong with a flag, without the function of Go that found it out.
func plainFlagError(err error) string {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err.Error()
	}
	if unfilled := (console.UnfilledError{}); errors.As(err, &unfilled) {
		return fmt.Sprintf("--%s %s: %v", value.GetFlag().Name, value.GetValue(), unfilled)
	}
	expected, known := map[string]string{
		"int": "a whole number", "uint64": "a whole number from 0", "duration": "a time such as 30s", "bool": "true or false",
	}[value.GetFlag().Value.Type()]
	if !known { // a type of Plimsoll, which says itself what is wrong
		return fmt.Sprintf("--%s: %v", value.GetFlag().Name, value.Unwrap())
	}
	return fmt.Sprintf("--%s %q, expected %s", value.GetFlag().Name, value.GetValue(), expected)
}
