package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newRunbookEvidence(c console) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "evidence RUN", Short: "Write all that proves a run into one file, verifiable offline", Args: exactly("RUN"),
		Example: "  plimsoll runbook evidence rolling-restart-a1b2c3 -o evidence.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return withDesk(cmd.Context(), func(ctx context.Context, d *desk) error {
				e, err := d.Evidence(ctx, args[0])
				if err != nil {
					return err
				}
				if path == "" {
					return e.Write(c.out)
				}
				f, err := os.Create(path)
				if err != nil {
					return fmt.Errorf("write the evidence: %w", err)
				}
				if err := e.Write(f); err != nil {
					_ = f.Close()
					return err
				}
				if err := f.Close(); err != nil {
					return fmt.Errorf("write the evidence: %w", err)
				}
				fmt.Fprintf(c.err, "%s: %d entries; note the head elsewhere: %s\n", path, len(e.Entries), e.Head)
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "file to write (default stdout)")
	return cmd
}
