package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/runbook/journal"
)

func newRunbookVerify(c console) *cobra.Command {
	var head, key, signers string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify a file of evidence, without any store", Args: exactly("FILE"),
		Long: `Verify that a file of evidence is whole and unchanged: that every entry follows from the one before, that every act was
intended, and approved where an approval was planned or asked for, with a good signature where the runbook or the inventory asks for one.
The keys are those that the run names: --signers gives those that you know, and then every approval must be signed. A forger could compute a whole new chain; so a head that was noted
elsewhere when the run ended, or a seal of a key that is known, makes the proof complete.`,
		Example: "  plimsoll runbook verify evidence.json --head 3f2a…\n  plimsoll runbook verify evidence.json --key public.pem",
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read the evidence: %w", err)
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
				return fmt.Errorf("%s: its head is %s, not the one that was noted", args[0], p.Head)
			}
			if key != "" {
				if err := sealedBy(p, args[0], key); err != nil {
					return err
				}
			}
			if asJSON {
				return jsonTo(c, p)
			}
			fmt.Fprintf(c.out, "%s holds: run %s, %s on %s by %s, %d entries, %s\n", args[0], p.Run, p.Header.Runbook, p.Header.Cluster, p.Header.By, p.Entries, p.Outcome)
			for _, a := range p.Approvals() {
				fmt.Fprintf(c.out, "  %s approved by %s\n", a.Step, a.Approver())
			}
			if p.Key != "" {
				fmt.Fprintf(c.out, "  sealed by %s\n", p.Key)
			}
			if p.Header.Override != "" {
				fmt.Fprintf(c.out, "  the gate was passed by: %s\n", p.Header.Override)
			}
			for _, e := range p.Changed() {
				fmt.Fprintf(c.out, "  %s; %s went on: %s\n", e.Reason, e.Order.By, e.Order.Changed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "the head that was noted when the run ended")
	cmd.Flags().StringVar(&key, "key", "", "file with the public key in PEM (openssl pkey -pubout) that must have sealed it")
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
		return "", usageError{text: path + " names no keys", hint: "a line for each person: NAME KEYTYPE KEY; ssh-keygen(1), ALLOWED SIGNERS"}
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
		return fmt.Errorf("%s: it is not sealed", name)
	case p.Key != public:
		return fmt.Errorf("%s: it is sealed with another key: %s", name, p.Key)
	}
	return nil
}
