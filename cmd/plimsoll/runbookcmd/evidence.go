package runbookcmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/runbook/journal"
)

func newEvidence(c console.Streams) *cobra.Command {
	var path, key string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "evidence RUN", Short: "Write the complete record of a run into one file that can be verified offline", Args: console.Exactly("RUN"),
		Long: `Write the plan, the approvals, each attempt with its inputs, observations and outputs, the metrics and the rehearsals of
a run into one file. Keep the printed head hash in another place: it proves later that the file was not replaced. With --key
the file is signed, and whoever has the public key can verify who wrote it.`,
		Example: "  plimsoll runbook evidence rolling-restart-a1b2c3 -o evidence.json\n  plimsoll runbook evidence rolling-restart-a1b2c3 -o evidence.json --key key.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				e, err := d.Evidence(ctx, args[0])
				if err != nil {
					return err
				}
				if key != "" {
					if err := seal(&e, key); err != nil {
						return err
					}
				}
				if path == "" {
					return e.Write(c.Out)
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
				fmt.Fprintf(c.Err, "%s: %d entries; keep this head hash in another place: %s\n", path, len(e.Entries), e.Head)
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "file to write (default stdout)")
	cmd.Flags().StringVar(&key, "key", "", "file with an Ed25519 private key in PEM (openssl genpkey -algorithm ed25519) to sign it with")
	return cmd
}

func seal(e *journal.Evidence, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	key, err := journal.PrivateKey(text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	e.SealWith(key)
	return nil
}
