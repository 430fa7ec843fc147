package main

import "github.com/spf13/cobra"

func newSeries(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "series",
		Short: "What other tools measured",
		Long:  "Read what other load tools measured, to lay it beside a trial's own series: plimsoll trial report DIR --beside SERIES.",
	}
	cmd.AddCommand(newSeriesImport(c))
	return cmd
}
