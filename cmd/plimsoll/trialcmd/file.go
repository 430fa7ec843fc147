package trialcmd

import (
	"os"
	"path/filepath"

	"plimsoll/catalog"
	"plimsoll/trial/spec"
)

// Read reads a trial; a folder stands for the trial.yaml in it.
func Read(name string, o spec.Options) (*spec.Trial, error) {
	if is, err := os.Stat(name); err == nil && is.IsDir() {
		name = filepath.Join(name, "trial.yaml")
	}
	return spec.Read(name, o, catalog.Parts())
}
