package runbookcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
)

func newValidate(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: CompleteRunbooks,
		Use:               "validate FILE", Short: "Check a runbook file without connecting to a cluster", Args: console.Exactly("FILE"),
		Long: `Read a runbook as plan and run would, and report mistakes with file, line and column: keys, actions and inputs that do not exist, expressions
that Plimsoll cannot read, and metrics of guardrails that no server of the runbook's engine shows.`,
		Example: "  plimsoll runbook validate change.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			v := validated{File: args[0]}
			book, err := runs.ReadRunbook(args[0])
			if err != nil {
				v.Problems = console.Problems(err)
			} else {
				v.Valid, v.Runbook, v.Steps, v.Content = true, book.Name, len(book.Steps), book.Hash
			}
			if asJSON {
				if err := console.PrintJSON(c, v); err != nil {
					return err
				}
			} else if v.Valid {
				fmt.Fprintf(c.Out, "%s is valid: runbook %s, %s, content %.12s\n", v.File, v.Runbook, countOf(v.Steps, "step"), v.Content)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// validated is what is known of a runbook that was read, and no more than read.
type validated struct {
	File     string            `json:"file"`
	Valid    bool              `json:"valid"`
	Problems []console.Problem `json:"problems,omitempty"`
	Runbook  string            `json:"runbook,omitempty"`
	Steps    int               `json:"steps,omitempty"`
	Content  string            `json:"content,omitempty"` // the hash that rehearsals and approvals are for
}

// countOf writes a number of things, of which there may be one.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
