// Package books holds the runbooks that ship.
package books

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"plimsoll/action"
	"plimsoll/runbook"
)

//go:embed */*.yaml
var files embed.FS

// Names lists them, as family/name.
func Names() []string {
	paths, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		panic("books: " + err.Error()) // the pattern is a constant
	}
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], ".yaml")
	}
	return paths
}

// Text returns a shipped runbook's text, fs.ErrNotExist if there is none of that name.
func Text(name string) ([]byte, error) { return files.ReadFile(name + ".yaml") }

// Read reads a shipped runbook.
func Read(name string, actions []action.Action) (*runbook.Runbook, error) {
	text, err := Text(name)
	if err != nil {
		return nil, fmt.Errorf("runbook %s: %w", name, err)
	}
	return runbook.Parse(name+".yaml", text, actions)
}
