package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/action"
	"plimsoll/catalog"
)

func newRunbookShow(c console) *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: completeRunbooks,
		Use:               "show RUNBOOK|ACTION", Short: "Print a runbook, or an action's inputs", Args: exactly("RUNBOOK"),
		Example: "  plimsoll runbook show mysql/rolling-restart\n  plimsoll runbook show mysql.set-variable",
		RunE: func(_ *cobra.Command, args []string) error {
			for _, a := range catalog.Actions() {
				if a.Name == args[0] {
					showAction(c, a)
					return nil
				}
			}
			book, err := readRunbook(args[0])
			if err != nil {
				return err
			}
			_, err = c.out.Write([]byte(book.Text))
			return err
		},
	}
}

// showAction prints what an action does and takes.
func showAction(c console, a action.Action) {
	fmt.Fprintf(c.out, "%s: %s\n", a.Name, a.About)
	required := a.Required()
	var inputs []named
	for _, key := range a.Inputs() {
		about := a.Explain(key)
		if slices.Contains(required, key) {
			about += " Required."
		}
		inputs = append(inputs, named{"  " + key, about})
	}
	printNamed(c, inputs)
}
