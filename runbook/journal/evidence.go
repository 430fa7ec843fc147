package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"plimsoll/durable"
)

// Evidence is a run as one file: its journal, whose entries hold the plan, the approvals, each attempt's inputs,
// observations, outputs and metrics, and the rehearsals behind it. Anybody can verify it without the store.
type Evidence struct {
	Format  int             `json:"format"`
	Run     string          `json:"run"`
	Made    time.Time       `json:"made"`
	Entries []durable.Entry `json:"entries"`
	// Head is the hash of the last entry. Written down elsewhere when the run ended, it proves that the whole chain is the
	// one of that day.
	Head string `json:"head"`
	// Digest is the SHA-256 of all above, as it is written.
	Digest string `json:"digest"`
	Seal   *Seal  `json:"seal,omitempty"`
}

const evidenceFormat = 1

// Gather reads from a store what proves a run.
func Gather(ctx context.Context, store *durable.Store, run string) (Evidence, error) {
	entries, err := store.Entries(ctx, run)
	if err != nil {
		return Evidence{}, err
	}
	if err := store.Verify(ctx, run); err != nil {
		return Evidence{}, err
	}
	if len(entries) == 0 {
		return Evidence{}, fmt.Errorf("run %s has not begun: there is no evidence", run)
	}
	e := Evidence{Format: evidenceFormat, Run: run, Made: time.Now().UTC(), Entries: entries, Head: entries[len(entries)-1].Hash}
	e.Digest, err = e.Sum()
	return e, err
}

// Sum is what Digest must be.
func (e Evidence) Sum() (string, error) {
	e.Digest, e.Seal = "", nil
	data, err := e.encode()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// encode is the one form in which evidence is written: for people too, and so that not a byte can differ.
func (e Evidence) encode() ([]byte, error) {
	data, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the evidence: %w", err)
	}
	return append(data, '\n'), nil
}

// Write writes the evidence.
func (e Evidence) Write(w io.Writer) error {
	data, err := e.encode()
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
