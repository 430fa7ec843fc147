package servecmd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The page offers the trials of its folder to be begun, and not what a result or an export says was done.
func TestResultsAndExportsAreNotOffered(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"ours/trial.yaml", "exported/trial.yaml", "exported/events.jsonl", "results/a/trial.yaml"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := trialFiles(); !slices.Equal(got, []string{"ours/trial.yaml"}) {
		t.Errorf("offered are %q", got)
	}
}
