package main

import (
	"github.com/spf13/cobra"
)

func newRunbookShow(c console) *cobra.Command {
	return &cobra.Command{
		Use: "show RUNBOOK", Short: "Print a runbook", Args: exactly("RUNBOOK"),
		Example: "  plimsoll runbook show mysql/rolling-restart",
		RunE: func(_ *cobra.Command, args []string) error {
			book, err := readRunbook(args[0])
			if err != nil {
				return err
			}
			_, err = c.out.Write([]byte(book.Text))
			return err
		},
	}
}
