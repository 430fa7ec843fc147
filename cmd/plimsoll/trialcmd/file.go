package trialcmd

import (
	"os"
	"path/filepath"
	"strings"

	"plimsoll/catalog"
	"plimsoll/trial/spec"
)

// Read reads a trial; a folder stands for the trial.yaml in it.
func Read(name string, o spec.Options) (*spec.Trial, error) {
	return ReadWith(name, o, catalog.Parts())
}

// ReadWith is Read for a trial that is put together from these parts.
func ReadWith(name string, o spec.Options, parts spec.Parts) (*spec.Trial, error) {
	if program, err := os.Executable(); err == nil {
		name = shipped(name, program)
	}
	if is, err := os.Stat(name); err == nil && is.IsDir() {
		name = filepath.Join(name, "trial.yaml")
	}
	return spec.Read(name, o, parts)
}

// shipped is the path of an example that is not in this folder and comes with the program: advice names examples, and is read anywhere. bin and examples
// stand side by side in the repository and in a release. Any other name stays as it is.
func shipped(name, program string) string {
	if _, err := os.Stat(name); err == nil || !strings.HasPrefix(filepath.ToSlash(name), "examples/") {
		return name
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	beside := filepath.Join(filepath.Dir(program), "..", name)
	if _, err := os.Stat(beside); err != nil {
		return name
	}
	return beside
}
