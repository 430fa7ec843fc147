package trialcmd

import (
	"os"
	"path/filepath"

	"plimsoll/catalog"
	"plimsoll/trial/spec"
)

// Read reads a trial; a folder stands for the trial.yaml in it.
func Read(name string, o spec.Options) (*spec.Trial, error) {
	return ReadWith(name, o, catalog.Parts())
}

// ReadWith is Read for a trial that is put together from these parts.
func ReadWith(name string, o spec.Options, parts spec.Parts) (*spec.Trial, error) {
	if is, err := os.Stat(name); err == nil && is.IsDir() {
		name = filepath.Join(name, "trial.yaml")
	}
	return spec.Read(name, o, parts)
}
