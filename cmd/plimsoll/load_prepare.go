package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func newLoadPrepare(c console) *cobra.Command {
	var o loadOptions
	cmd := &cobra.Command{
		Use:     "prepare",
		Short:   "Make a workload's tables and load its data",
		Example: "  plimsoll load prepare --target lab:mariadb --workload tpcc --param scale=4",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLoadPrepare(cmd.Context(), c, o) },
	}
	o.add(cmd)
	return cmd
}

func runLoadPrepare(ctx context.Context, c console, o loadOptions) error {
	db, w, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	began := time.Now()
	bar := newProgress(c, "loading")
	err = w.Prepare(ctx, db, bar.update)
	bar.close()
	if err != nil {
		return fmt.Errorf("load the data of %s: %w", w.Name(), err)
	}
	fmt.Fprintf(c.out, "%s is loaded in %s\n", w.Name(), roughly(time.Since(began)))
	return nil
}
