package home

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/result"
)

const usualResults = "results"

// NewResultsFolder is where results are written: $PLIMSOLL_RESULTS, else results here. A folder of that name in a parent folder belongs to
// something else.
func NewResultsFolder() string {
	return cmp.Or(os.Getenv("PLIMSOLL_RESULTS"), usualResults)
}

// ResultsFolder is where results are looked for: $PLIMSOLL_RESULTS, else results here or in a parent folder, else results here.
func ResultsFolder() string {
	here := NewResultsFolder()
	if here != usualResults || isFolder(here) {
		return here
	}
	if dir, err := os.Getwd(); err == nil {
		for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
			if found := filepath.Join(parent, usualResults); isFolder(found) {
				return found
			}
		}
	}
	return here
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ResultFolder is the folder of a result that a person names: a path, a path below the results, or a trial, of which it is the newest.
// The folder of a trial itself is none, nor is one with the results of several trials.
func ResultFolder(name string) string {
	below := filepath.Join(ResultsFolder(), name)
	switch {
	case result.Is(name):
		return name
	case result.Is(below):
		return below
	}
	all, err := result.List(below)
	if safe := SafeName(name); err == nil && len(all) == 0 && safe != name {
		all, err = result.List(filepath.Join(ResultsFolder(), safe))
	}
	if err != nil || len(all) == 0 {
		return name // which is said not to be one
	}
	for _, one := range all {
		if filepath.Dir(one.Dir) != filepath.Dir(all[0].Dir) {
			return name
		}
	}
	return all[0].Dir
}

// OpenResult reads the result that a person names, as ResultFolder finds it.
func OpenResult(name string) (*result.Result, error) {
	r, err := result.Open(ResultFolder(name))
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	var trials []string
	for _, known := range resultsHere() {
		trials = append(trials, filepath.Base(filepath.Dir(known.Dir)))
	}
	return nil, MeantResult(name, err, trials...)
}

// MeantResult adds to an error about a result that is not there which one was meant: a result, or another name.
func MeantResult(name string, err error, known ...string) error {
	for _, r := range resultsHere() {
		known = append(known, r.Dir)
		if below, failed := filepath.Rel(ResultsFolder(), r.Dir); failed == nil {
			known = append(known, below)
		}
	}
	if near := document.Nearest(filepath.Clean(name), known); near != "" && errors.Is(err, fs.ErrNotExist) {
		return hint.With(err, fmt.Sprintf("did you mean %q? plimsoll trial list shows the results", near))
	}
	return err
}

// resultsHere lists the results, for messages alone: none if they cannot be read.
func resultsHere() []result.Listed {
	all, err := result.List(ResultsFolder())
	if err != nil {
		return nil
	}
	return all
}

// CompleteResults offers the trials and folders below the results.
func CompleteResults(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := result.List(ResultsFolder())
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, r := range all {
		if !slices.Contains(args, r.Dir) {
			names = append(names, fmt.Sprintf("%s\t%s %s", r.Dir, r.Trial, r.Verdict))
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// SafeName makes a trial's name a folder's.
func SafeName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ' ' || r == ':' {
			return '-'
		}
		return r
	}, name)
}
