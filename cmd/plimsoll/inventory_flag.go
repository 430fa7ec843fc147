package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/inventory"
)

// inventoryFlag lets every command take another inventory. It is handed on in the environment, to processes that are started too.
func inventoryFlag(root *cobra.Command, given *console.Given) {
	var file string
	root.PersistentFlags().StringVar(&file, "inventory", "", "the inventory (default $"+inventory.Variable+", else "+inventory.File+" here, in a parent folder, or in ~/.config/plimsoll)")
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		if file == "" {
			return nil
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return fmt.Errorf("find the inventory: %w", err)
		}
		if _, err := os.Stat(path); err != nil {
			return console.UsageError{
				Text: fmt.Sprintf("--inventory %s: %v", file, err),
				Hint: "plimsoll init inventory " + hint.Quoted(file) + " writes one; without --inventory, " + inventory.File + " is looked for here, in the parent folders and in ~/.config/plimsoll",
			}
		}
		if given != nil {
			given.Inventory(file)
		}
		return os.Setenv(inventory.Variable, path)
	}
}
