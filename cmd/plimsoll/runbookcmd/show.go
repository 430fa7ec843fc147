package runbookcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/action"
	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/internal/document"
)

func newShow(c console.Streams) *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "show RUNBOOK|ACTION", Short: "Print a runbook, or an action's inputs", Args: console.Exactly("RUNBOOK"),
		Example: "  plimsoll runbook show mysql/rolling-restart\n  plimsoll runbook show mysql.set-variable",
		RunE: func(_ *cobra.Command, args []string) error {
			for _, a := range catalog.Actions() {
				if a.Name == args[0] {
					showAction(c, a)
					return nil
				}
			}
			book, err := runs.ReadRunbook(args[0])
			if err != nil {
				return meantAction(args[0], err)
			}
			_, err = c.Out.Write([]byte(book.Text))
			return err
		},
	}
}

// meantAction is why a runbook cannot be read, unless an action is meant, which has a dot in its name.
func meantAction(name string, err error) error {
	var known []string
	for _, a := range catalog.Actions() {
		known = append(known, a.Name)
	}
	if near := document.Nearest(name, known); near != "" && strings.Contains(name, ".") && !document.IsPath(name) {
		return document.UnknownName(&document.Node{Kind: document.Scalar, Text: name}, "action", known)
	}
	return err
}

// showAction prints what an action does and takes.
func showAction(c console.Streams, a action.Action) {
	fmt.Fprintf(c.Out, "%s: %s\n", a.Name, a.About)
	required := a.Required()
	var inputs []console.Named
	for _, key := range a.Inputs() {
		about := a.Explain(key)
		if slices.Contains(required, key) {
			about += " Required."
		}
		inputs = append(inputs, console.Named{Name: "  " + key, About: about})
	}
	console.PrintNamed(c, inputs)
}
