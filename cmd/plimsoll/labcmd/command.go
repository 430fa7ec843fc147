// Package labcmd has the commands of plimsoll lab.
package labcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Clusters of real database servers on this machine",
		Long: `Create and remove clusters of real servers, each node on a loopback address of its own. No command needs root.
Clusters are stored in $PLIMSOLL_HOME (default ~/.local/state/plimsoll), downloaded servers in $PLIMSOLL_CACHE
(default ~/.cache/plimsoll).`,
	}
	cmd.AddCommand(newUp(c), newStart(c), newDown(c), newList(c), newFetch(c), newShell(c), newLayer(), newMachine(), newDisk(c))
	return cmd
}
