package loadcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

func newCleanup(c console.Streams) *cobra.Command {
	var o options
	var yes bool
	cmd := &cobra.Command{
		Use:     "cleanup",
		Short:   "Drop a workload's tables",
		Example: "  plimsoll load cleanup --target lab:mariadb --workload tpcc --yes",
		Args:    console.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, db, w, err := o.open(cmd.Context())
			if err != nil {
				return err
			}
			defer db.Close()
			if err := console.Confirm(c, yes, fmt.Sprintf("Drop the tables of %s at %s?", w.Name(), o.target)); err != nil {
				return err
			}
			if err := w.Cleanup(cmd.Context(), db); err != nil {
				return fmt.Errorf("drop the tables of %s: %w", w.Name(), err)
			}
			fmt.Fprintf(c.Out, "The tables of %s were dropped.\n", w.Name())
			return nil
		},
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
