package runbookcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/runbook/books"
)

func newList(c console.Streams) *cobra.Command {
	var asJSON, actions bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the runbooks that ship, or the actions that steps can use", Args: console.Exactly(),
		Example: "  plimsoll runbook list\n  plimsoll runbook list --actions",
		RunE: func(*cobra.Command, []string) error {
			if actions {
				return listActions(c, asJSON)
			}
			return listRunbooks(c, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; with --actions the schema of their inputs")
	cmd.Flags().BoolVar(&actions, "actions", false, "list the actions that steps can use instead")
	return cmd
}

func listRunbooks(c console.Streams, asJSON bool) error {
	var all []console.Named
	for _, name := range books.Names() {
		b, err := books.Read(name, catalog.Actions())
		if err != nil {
			return err
		}
		all = append(all, console.Named{Name: b.Name, About: b.About})
	}
	if asJSON {
		return console.PrintJSON(c, all)
	}
	console.PrintNamed(c, all)
	return nil
}

func listActions(c console.Streams, asJSON bool) error {
	if asJSON {
		var all []any
		for _, a := range catalog.Actions() {
			all = append(all, map[string]any{"name": a.Name, "version": a.Version, "about": a.About, "inputs": a.Schema()})
		}
		return console.PrintJSON(c, all)
	}
	var all []console.Named
	for _, a := range catalog.Actions() {
		all = append(all, console.Named{Name: a.Name, About: a.About})
	}
	console.PrintNamed(c, all)
	return nil
}
