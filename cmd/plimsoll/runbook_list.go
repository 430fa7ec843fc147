package main

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/runbook/books"
)

func newRunbookList(c console) *cobra.Command {
	var asJSON, actions bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the runbooks that ship, or the actions that steps can use", Args: exactly(),
		Example: "  plimsoll runbook list\n  plimsoll runbook list --actions",
		RunE: func(*cobra.Command, []string) error {
			if actions {
				return listActions(c, asJSON)
			}
			return listRunbooks(c, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; with --actions the schema of their inputs")
	cmd.Flags().BoolVar(&actions, "actions", false, "the actions")
	return cmd
}

func listRunbooks(c console, asJSON bool) error {
	var all []named
	for _, name := range books.Names() {
		b, err := books.Read(name, catalog.Actions())
		if err != nil {
			return err
		}
		all = append(all, named{b.Name, b.About})
	}
	if asJSON {
		return jsonTo(c, all)
	}
	printNamed(c, all)
	return nil
}

func listActions(c console, asJSON bool) error {
	if asJSON {
		var all []any
		for _, a := range catalog.Actions() {
			all = append(all, map[string]any{"name": a.Name, "version": a.Version, "about": a.About, "inputs": a.Schema()})
		}
		return jsonTo(c, all)
	}
	var all []named
	for _, a := range catalog.Actions() {
		all = append(all, named{a.Name, a.About})
	}
	printNamed(c, all)
	return nil
}
