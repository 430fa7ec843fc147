// Package superdiskcmd has the commands of plimsoll superdisk.
package superdiskcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/superdisk/seed"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "superdisk",
		Short: "Show Super Disks: RAID1 of a local disk and a network volume",
		Long: `A Super Disk is a RAID1 of a machine's local disk, which serves reads, and a network volume, which survives the loss of the machine.
Runbooks create, split, repair and move it: plimsoll runbook list shows them as superdisk/….`,
	}
	cmd.AddCommand(newStatus(c), newSeed(c))
	return cmd
}

// newSeed copies a leg's used blocks on the machine that it is started on. Rebuilds start it; it is nothing for people.
func newSeed(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:    "seed",
		Short:  "Copy the used blocks of a file system from one leg to another, by an order on standard input",
		Hidden: true,
		Args:   console.Exactly(),
		RunE:   func(cmd *cobra.Command, _ []string) error { return seed.Main(cmd.Context(), c.In, c.Out) },
	}
}
