package runbookcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
)

func newValidate(c console.Streams) *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "validate FILE", Short: "Check a runbook file without connecting to a cluster", Args: console.Exactly("FILE"),
		Example: "  plimsoll runbook validate change.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			book, err := runs.ReadRunbook(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "%s is valid: runbook %s, %s, content %.12s\n", args[0], book.Name, steps(len(book.Steps)), book.Hash)
			return nil
		},
	}
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
