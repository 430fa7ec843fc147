package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// AlteredError says that a run's journal is not as it was written: nothing can be based on it.
type AlteredError struct {
	Run string
	Why string
}

func (e *AlteredError) Error() string {
	if e.Run == "" {
		return "the journals of this state folder were moved or replaced: " + e.Why
	}
	return fmt.Sprintf("the journal of run %s was changed after it was written: %s", e.Run, e.Why)
}

// Hint says what to do.
func (e *AlteredError) Hint() string {
	return "check the cluster itself, and an earlier copy of the state folder; then end the run with plimsoll runbook cancel " + e.Run + " --leave REASON, and plan the change again"
}

// head is the last entry of a run's journal as noted beside it: what is cut off at the end shows by it. A run of an older release
// has none until its next entry.
type head struct {
	Number int
	Hash   string
}

func (s *Store) head(ctx context.Context, run string) (h head, known bool, err error) {
	err = s.db.row(ctx, `SELECT number, hash FROM {heads} WHERE run = ?`, run).Scan(&h.Number, &h.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("read the head of the journal of %s: %w", run, s.options.plainly(err))
	}
	return h, true, nil
}

// noteHead notes the entry that was just written. A process that dies before it leaves the head one entry behind.
func noteHead(ctx context.Context, s *Store, run string, e Entry) error {
	_, err := s.db.exec(ctx, `INSERT INTO {heads} (run, number, hash) VALUES (?, ?, ?)
		ON CONFLICT (run) DO UPDATE SET number = excluded.number, hash = excluded.hash`, run, e.Number, e.Hash)
	if err != nil {
		return fmt.Errorf("record the head of the journal of %s: %w", run, err)
	}
	return nil
}

// Verify looks whether a run's journal is as it was written. *AlteredError when it is not.
func (s *Store) Verify(ctx context.Context, run string) error {
	entries, err := s.Entries(ctx, run)
	if err != nil {
		return err
	}
	return verifyHead(ctx, s, run, entries)
}

func verifyHead(ctx context.Context, s *Store, run string, entries []Entry) error {
	if err := VerifyChain(entries); err != nil {
		return &AlteredError{run, err.Error()}
	}
	h, known, err := s.head(ctx, run)
	switch {
	case err != nil || !known:
		return err
	case h.Number > len(entries):
		return &AlteredError{run, fmt.Sprintf("%d entries were written, but %d are there", h.Number, len(entries))}
	case h.Number > 0 && entries[h.Number-1].Hash != h.Hash:
		return &AlteredError{run, fmt.Sprintf("entry %d was replaced", h.Number)}
	}
	return nil
}

func (s *Store) path() string { return filepath.Join(s.options.Folder, fileName) }

// refuseIfMoved finds that the file of the store is the one that was opened: one that was removed or replaced would take entries that
// nobody reads again.
func refuseIfMoved(s *Store) error {
	if s.file == nil {
		return nil
	}
	now, err := os.Stat(s.path())
	if err == nil && os.SameFile(now, s.file) {
		return nil
	}
	why := "its file was replaced"
	if err != nil {
		why = "its file was removed: " + err.Error()
	}
	return &AlteredError{Why: why}
}
