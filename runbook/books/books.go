// Package books holds the runbooks that ship.
package books

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"plimsoll/action"
	"plimsoll/internal/document"
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

// Required are the inputs of a shipped runbook that have no default, in order; none where there is no such runbook.
func Required(name string) []string {
	text, err := Text(name)
	if err != nil {
		return nil
	}
	book, err := document.Parse(name+".yaml", text)
	if err != nil {
		panic("books: " + err.Error()) // a test reads all of them
	}
	inputs := book.Get("inputs")
	if inputs == nil {
		return nil
	}
	var all []string
	for _, e := range inputs.Entries {
		if e.Value.Get("default") == nil {
			all = append(all, e.Key)
		}
	}
	return all
}

// Read reads a shipped runbook.
func Read(name string, actions []action.Action) (*runbook.Runbook, error) {
	text, err := Text(name)
	if err != nil {
		return nil, fmt.Errorf("runbook %s: %w", name, err)
	}
	return runbook.Parse(name+".yaml", text, actions)
}
