package main

import (
	"os"
	"testing"
)

// stateDirWith moves the test into an empty folder with these files, with an empty home of Plimsoll's.
func stateDirWith(t *testing.T, files map[string]string) {
	t.Helper()
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
