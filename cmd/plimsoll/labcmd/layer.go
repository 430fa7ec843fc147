package labcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/lab/forgetful"
)

// newLayer serves the file system of a node in a forgetful cluster. Labs start it; it is nothing for people.
func newLayer() *cobra.Command {
	return &cobra.Command{
		Use:    "layer FOLDER ASIDE REPORT [DISK STATE]",
		Short:  "Serve a node's data through a file system that can lose unsynced writes and be as slow as a cloud volume",
		Hidden: true,
		Args:   cobra.RangeArgs(3, 5),
		RunE:   func(_ *cobra.Command, args []string) error { return forgetful.Run(args) },
	}
}
