package durable

import (
	"context"
	"testing"
	"time"
)

// A process that was stopped in the middle of a write has the write lock of the file until somebody lets it go on.
func TestAStoreIsOpenedAndReadBesideAStoppedWriter(t *testing.T) {
	t.Parallel()
	o := Options{Folder: t.TempDir(), Version: "1"}
	s := open(t, o)
	if err := s.Create(t.Context(), "r", nil); err != nil {
		t.Fatal(err)
	}
	stopped, err := s.db.BeginTx(t.Context(), nil) // immediate: it has the lock
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stopped.Rollback() }()
	limited, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	reader, err := Open(limited, o)
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := reader.Runs(limited); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if entries, err := reader.Entries(limited, "r"); err != nil || len(entries) != 0 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
}
