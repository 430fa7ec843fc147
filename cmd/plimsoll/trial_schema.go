package main

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/trial/spec"
)

func newTrialSchema(c console) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of trial files, for editors",
		Example: "  plimsoll trial schema > trial.schema.json",
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			return jsonTo(c, spec.Schema(catalog.Workloads()))
		},
	}
}
