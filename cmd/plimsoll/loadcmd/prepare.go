package loadcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

func newPrepare(c console.Streams) *cobra.Command {
	var o options
	var yes bool
	cmd := &cobra.Command{
		Use:     "prepare",
		Short:   "Create a workload's tables and load its data",
		Example: "  plimsoll load prepare --target lab:mariadb --workload tpcc --param scale=4",
		Args:    console.Exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLoadPrepare(cmd.Context(), c, o, yes) },
	}
	o.add(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before loading data into a cluster in production")
	return cmd
}

func runLoadPrepare(ctx context.Context, c console.Streams, o options, yes bool) error {
	_, db, w, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := o.agree(c, yes, "Load the data of "+w.Name()+" into it"); err != nil {
		return err
	}
	began := time.Now()
	bar := console.NewProgress(c, "loading")
	err = w.Prepare(ctx, db, bar.Update)
	bar.Close()
	if err != nil {
		if left := o.left(ctx); left != "" {
			fmt.Fprintln(c.Err, left)
		}
		return o.typed().Explain(fmt.Errorf("load the data of %s: %w", w.Name(), err))
	}
	fmt.Fprintf(c.Out, "%s is loaded in %s\n", w.Name(), console.Roughly(time.Since(began)))
	return nil
}

// left says what a load leaves that was interrupted; "" of one that was not: its error says what happened.
func (o options) left(ctx context.Context) string {
	if ctx.Err() == nil {
		return ""
	}
	return "The data is loaded in part, and stays. To remove it: " + o.typed().Cleanup()
}
