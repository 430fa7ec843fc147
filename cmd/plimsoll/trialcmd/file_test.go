package trialcmd

import (
	"os"
	"path/filepath"
	"testing"
)

// An example that advice names is found from anywhere: beside the program, where it is not in this folder.
func TestExamplesAreFoundBesideTheProgram(t *testing.T) {
	release, here := t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(release, "bin", "plimsoll"), filepath.Join(release, "examples", "demo", "trial.yaml"), filepath.Join(here, "examples", "own", "trial.yaml"), filepath.Join(release, "examples", "own", "trial.yaml")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(here, "plimsoll")
	if err := os.Symlink(filepath.Join(release, "bin", "plimsoll"), program); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	beside := func(name string) string {
		real, err := filepath.EvalSymlinks(release)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(real, name)
	}
	for name, want := range map[string]string{
		"examples/demo/trial.yaml": beside("examples/demo/trial.yaml"),
		"examples/demo":            beside("examples/demo"),
		"examples/own/trial.yaml":  "examples/own/trial.yaml", // what is here comes first
		"examples/none/trial.yaml": "examples/none/trial.yaml",
		"demo/trial.yaml":          "demo/trial.yaml",
	} {
		if got := shipped(name, program); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
