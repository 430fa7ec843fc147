package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/hint"
)

// Reason adds a flag for a person's reason, which is kept. It refuses the word that stands for one in the
// commands that Plimsoll advises, an empty text, and the next flag, which was taken for a reason that somebody forgot.
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
	switch text = strings.TrimSpace(text); {
	case text == "":
		return errors.New("the reason is empty: it is kept for those who ask later why this was done")
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("%s is a flag and no reason: write the reason behind the flag that takes it, in quotes", text)
	}
	*r = reason(text)
	return nil
}

// UnfilledError refuses a command that was typed as it is printed.
type UnfilledError struct{ word string }

func (e UnfilledError) Error() string { return fmt.Sprintf("give your reason in place of %s", e.word) }
