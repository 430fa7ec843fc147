package main

import (
	"github.com/spf13/cobra"

	"plimsoll/superdisk/seed"
)

func newSuperdisk(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "superdisk",
		Short: "Show Super Disks: RAID1 of a local disk and a network volume",
		Long: `A Super Disk is a RAID1 of a machine's local disk, which serves reads, and a network volume, which survives the loss of the machine.
Runbooks create, split, repair and move it: plimsoll runbook list shows them as superdisk/….`,
	}
	cmd.AddCommand(newSuperdiskStatus(c), newSuperdiskSeed(c))
	return cmd
}

// newSuperdiskSeed copies a leg's used blocks on the machine that it is started on. Rebuilds start it; it is nothing for people.
func newSuperdiskSeed(c console) *cobra.Command {
	return &cobra.Command{
		Use:    "seed",
		Short:  "Copy the used blocks of a file system from one leg to another, by an order on standard input",
		Hidden: true,
		Args:   exactly(),
		RunE:   func(cmd *cobra.Command, _ []string) error { return seed.Main(cmd.Context(), c.in, c.out) },
	}
}
