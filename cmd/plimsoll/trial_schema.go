package main

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/trial"
)

func newTrialSchema(c console) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of trial files, for editors",
		Example: "  plimsoll trial schema > trial.schema.json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			return jsonTo(c, trial.Schema(catalog.Workloads()))
		},
	}
}
