package main

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/cmd/plimsoll/console"
)

// TestAnEmptyPlaceOfTheSharedStateIsRefused has the environment variable that names the shared state empty: runs would be kept on
// this machine alone, and nobody would know.
func TestAnEmptyPlaceOfTheSharedStateIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PLIMSOLL_HOME", filepath.Join(dir, "home"))
	t.Setenv("PLIMSOLL_STATE", " ")
	if err := os.WriteFile("plimsoll.yaml", []byte("state: {postgres: {env: PLIMSOLL_STATE}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, console.ExitTrouble, "the connection string of the shared state is empty", "runbook", "status")
	if _, err := os.Stat(filepath.Join(dir, "home", "runs", "runs.db")); err == nil {
		t.Error("a local store was made")
	}
}
