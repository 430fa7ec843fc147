package main

import "github.com/spf13/cobra"

func newSeries(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "series",
		Short: "Import measurements of other tools",
		Long:  "Import measurements of other load tools, to show them next to a trial's own series: plimsoll trial report DIR --beside SERIES.",
	}
	cmd.AddCommand(newSeriesImport(c))
	return cmd
}
