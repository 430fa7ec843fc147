package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRunbookValidate(c console) *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: completeRunbooks,
		Use:               "validate FILE", Short: "Check a runbook file without connecting to a cluster", Args: exactly("FILE"),
		Example: "  plimsoll runbook validate change.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			book, err := readRunbook(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%s is valid: runbook %s, %d steps, content %.12s\n", args[0], book.Name, len(book.Steps), book.Hash)
			return nil
		},
	}
}
