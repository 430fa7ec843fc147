package runbookcmd

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/runbook/journal"
)

func newVerify(c console.Streams) *cobra.Command {
	var head, key, signers string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify an evidence file, offline", Args: console.Exactly("FILE"),
		Long: `Verify that an evidence file is complete and unchanged: every entry follows from the one before, every act was recorded as intended
first, and was approved where an approval was planned or requested, with a valid signature where the runbook or the inventory demands one.
Signatures are checked against the keys that the run names; --signers gives the keys that you trust, and then every approval must be signed.
A forger could compute a whole new chain. The proof is complete with the head hash that you kept in another place when the run ended
(--head), or with a signature by a key that you know (--key).`,
		Example: "  plimsoll runbook verify evidence.json --head 3f2a…\n  plimsoll runbook verify evidence.json --key public.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return hint.Missing(fmt.Errorf("read the evidence: %w", err), "plimsoll runbook evidence RUN -o "+hint.Quoted(args[0])+" writes the evidence of a run; plimsoll runbook status lists the runs")
			}
			p, err := journal.VerifyEvidence(data)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			allowed, err := readSigners(signers)
			if err != nil {
				return err
			}
			if err := p.Signatures(cmd.Context(), allowed); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if head != "" && head != p.Head {
				return fmt.Errorf("%s: its head is %s, not the one given with --head", args[0], p.Head)
			}
			if key != "" {
				if err := sealedBy(p, args[0], key); err != nil {
					return err
				}
			}
			if asJSON {
				return console.PrintJSON(c, p)
			}
			fmt.Fprintf(c.Out, "%s is valid: run %s, %s on %s by %s, %d entries, %s\n", args[0], p.Run, p.Header.Runbook, p.Header.Cluster, p.Header.By, p.Entries, cmp.Or(string(p.Outcome), "not ended yet"))
			for _, a := range p.Approvals() {
				fmt.Fprintf(c.Out, "  %s approved by %s\n", a.Step, a.Approver())
			}
			if p.Key != "" {
				fmt.Fprintf(c.Out, "  signed by %s\n", p.Key)
			}
			if p.Header.Override != "" {
				fmt.Fprintf(c.Out, "  gate overridden: %s\n", p.Header.Override)
			}
			tellRehearsals(c.Out, "  ", p.Header)
			for _, e := range p.Changed() {
				fmt.Fprintf(c.Out, "  %s; %s continued: %s\n", e.Reason, e.Order.By, e.Order.Changed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "the head hash that was kept when the run ended")
	cmd.Flags().StringVar(&key, "key", "", "file with the public key in PEM (openssl pkey -pubout) of the key that must have signed it")
	cmd.Flags().StringVar(&signers, "signers", "", "allowed signers file, as ssh-keygen(1) describes it: every approval must be signed by one of these")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readSigners reads an allowed signers file; "" without one.
func readSigners(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err == nil && len(text) == 0 {
		return "", console.UsageError{Text: path + " names no keys", Hint: "a line for each person: NAME KEYTYPE KEY; ssh-keygen(1), ALLOWED SIGNERS"}
	}
	if err != nil {
		return "", fmt.Errorf("read the allowed signers: %w", err)
	}
	return string(text), nil
}

func sealedBy(p journal.Proof, name, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	public, err := journal.PublicKey(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	case p.Key == "":
		return fmt.Errorf("%s is not signed", name)
	case p.Key != public:
		return fmt.Errorf("%s is signed with another key: %s", name, p.Key)
	}
	return nil
}
