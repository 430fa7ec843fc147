package main

import (
	"encoding/json"

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
			e := json.NewEncoder(c.out)
			e.SetIndent("", "  ")
			return e.Encode(trial.Schema(catalog.Workloads()))
		},
	}
}
