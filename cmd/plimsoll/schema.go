package main

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook"
	"plimsoll/trial/spec"
)

// schemas makes the JSON Schema of each kind of file that a person writes.
var schemas = map[string]func() document.Schema{
	"trial":     func() document.Schema { return spec.Schema(catalog.Workloads()) },
	"runbook":   func() document.Schema { return runbook.Schema(catalog.Actions()) },
	"inventory": inventory.Schema,
}

func newSchema(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema trial|runbook|inventory",
		Short: "Print the JSON Schema of trials, runbooks or the inventory, for editors",
		Long: `Print the JSON Schema of trials, runbooks or the inventory. With it an editor completes keys and marks mistakes while you
write. Editors with the YAML language server read it from the first line of a file:

  # yaml-language-server: $schema=trial.schema.json`,
		Example:   "  plimsoll schema trial > trial.schema.json\n  plimsoll schema runbook > runbook.schema.json",
		ValidArgs: document.SortedKeys(schemas),
		Args:      console.Exactly("KIND"),
		RunE: func(cmd *cobra.Command, args []string) error {
			schema, known := schemas[args[0]]
			if !known {
				return document.UnknownName(&document.Node{Kind: document.Scalar, Text: args[0]}, "kind of file", document.SortedKeys(schemas))
			}
			return console.PrintJSON(c, schema())
		},
	}
}
