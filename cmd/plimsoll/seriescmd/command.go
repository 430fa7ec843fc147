// Package seriescmd has the commands of plimsoll series.
package seriescmd

import (
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "series",
		Short: "Import measurements of other tools",
		Long:  "Import measurements of other load tools, to show them next to a trial's own series: plimsoll trial report DIR --beside SERIES.",
	}
	cmd.AddCommand(newImport(c))
	return cmd
}
