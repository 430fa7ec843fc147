package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll/hint"
)

// signatureSpace keeps a signature of an approval from meaning anything else.
const signatureSpace = "plimsoll-approval"

// ApprovalText is the text that the person who approves a step signs.
func ApprovalText(run, step, plan string) string {
	return fmt.Sprintf("plimsoll approval\nrun %s\nstep %s\nplan %s\n", run, step, plan)
}

// Sign has ssh-keygen sign the approval of a step, with a private key or, by an agent, with the one of a public key. It asks for a
// passphrase on the terminal.
func Sign(ctx context.Context, key, run, step, plan string) (string, error) {
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", signatureSpace)
	cmd.Stdin = strings.NewReader(ApprovalText(run, step, plan))
	out, err := output(cmd)
	if err != nil {
		return "", fmt.Errorf("sign the approval with %s: %w", key, err)
	}
	return string(out), nil
}

// SignerOf returns the person whose signature of an approval it is, by the keys of an allowed signers file, as ssh-keygen(1) describes it.
func SignerOf(ctx context.Context, signature, signers, run, step, plan string) (string, error) {
	folder, err := os.MkdirTemp("", "plimsoll-signature")
	if err != nil {
		return "", fmt.Errorf("verify a signature: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	allowed, signed := filepath.Join(folder, "allowed_signers"), filepath.Join(folder, "signature")
	if err := errors.Join(os.WriteFile(allowed, []byte(signers), 0o600), os.WriteFile(signed, []byte(signature), 0o600)); err != nil {
		return "", fmt.Errorf("verify a signature: %w", err)
	}
	out, err := output(exec.CommandContext(ctx, "ssh-keygen", "-Y", "find-principals", "-s", signed, "-f", allowed))
	who, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if tooling(err) {
		return "", err
	} else if err != nil || who == "" {
		return "", hint.With(errors.New("the signature was made with a key that is not among the allowed signers"), "ssh-keygen(1), ALLOWED SIGNERS: a line for each person, NAME KEYTYPE KEY")
	}
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-Y", "verify", "-f", allowed, "-I", who, "-n", signatureSpace, "-s", signed)
	cmd.Stdin = strings.NewReader(ApprovalText(run, step, plan))
	if _, err := output(cmd); tooling(err) {
		return "", err
	} else if err != nil {
		return "", fmt.Errorf("the signature of %s does not belong to step %s of run %s with plan %s: %w", who, step, run, plan, err)
	}
	return who, nil
}

// tooling tells whether ssh-keygen could not be asked.
func tooling(err error) bool {
	var exit *exec.ExitError
	return err != nil && !errors.As(err, &exit)
}

// output is what a program prints, with what it complains of as its error.
func output(cmd *exec.Cmd) ([]byte, error) {
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, hint.With(err, "signatures are made and verified by OpenSSH's ssh-keygen, 8.1 or newer")
	}
	if text := strings.TrimSpace(complaint.String()); err != nil && text != "" {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return out, err
}
