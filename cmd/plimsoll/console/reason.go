package console

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/hint"
)

// Reason adds a flag for a person's reason, which is kept. It refuses the word that stands for one in the commands that Plimsoll advises.
func Reason(cmd *cobra.Command, to *string, name, usage string) {
	cmd.Flags().Var((*reason)(to), name, usage)
}

type reason string

// String implements pflag.Value.
func (r *reason) String() string { return string(*r) }

// Type implements pflag.Value.
func (*reason) Type() string { return "string" }

// Set implements pflag.Value.
func (r *reason) Set(text string) error {
	if hint.ToFill(text) {
		return UnfilledError{text}
	}
	*r = reason(text)
	return nil
}

// UnfilledError refuses a command that was typed as it is printed.
type UnfilledError struct{ word string }

func (e UnfilledError) Error() string { return fmt.Sprintf("give your reason in place of %s", e.word) }
