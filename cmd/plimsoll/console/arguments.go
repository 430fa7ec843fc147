package console

import (
	"github.com/spf13/cobra"
)

// OnlyNoun marks the commands that do nothing themselves.
const OnlyNoun = "noun"

// RefuseUnknown makes a noun without a verb show its help and refuse a verb that it does not have.
func RefuseUnknown(noun *cobra.Command) {
	noun.Annotations = map[string]string{OnlyNoun: "true"}
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
		return UsageError{Text: "unknown command " + cmd.CommandPath() + " " + args[0], Hint: hint}
	}
}

// Exactly is cobra.ExactArgs that says what is expected.
func Exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return UsageError{Text: "expected " + cmd.UseLine(), Hint: cmd.CommandPath() + " --help"}
	}
}

// Some expects from least to most arguments, any number with most 0, and says what is expected where others are given.
func Some(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most == 0 || len(args) <= most) {
			return nil
		}
		return UsageError{Text: "expected " + cmd.UseLine(), Hint: cmd.CommandPath() + " --help"}
	}
}

// Completing gives a flag its offers.
func Completing(cmd *cobra.Command, flag string, offer cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // there is no such flag
	}
}

// Complete offers values of a flag to the shell.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err)
	}
}
