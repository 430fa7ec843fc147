package labcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/infra/uml"
)

// newMachine runs a machine of a lab: its monitor here, and its first programs in it. Labs start it; it is nothing for people.
func newMachine() *cobra.Command {
	return &cobra.Command{
		Use:                "machine",
		Short:              "Run a machine of a lab",
		Hidden:             true,
		DisableFlagParsing: true, // a kernel adds words of its own
		RunE:               func(_ *cobra.Command, args []string) error { return uml.Run(args) },
	}
}
