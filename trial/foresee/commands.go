package foresee

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/trial/spec"
)

// Commands tells of commands that name a file which is not on this machine, where they are executed. Only another command, executed before, may
// make it: without one the trial could not run.
func Commands(t *spec.Trial) []Foreseen {
	var all []Foreseen
	seen := map[string]bool{}
	for _, c := range t.Cells {
		made := false
		for _, call := range c.Calls() {
			if call.Book == nil || call.Refused != "" {
				continue
			}
			runbook.EachStep(call.Book.Steps, func(s *runbook.Step) {
				if s.Uses != action.CommandName {
					return
				}
				path := absent(s)
				if f := (Foreseen{
					At: at(call), Of: call.Name(), Why: action.NoFile(path), Do: action.CorrectPath, Must: !made && s.If == "",
				}); path != "" && !seen[f.String()] {
					seen[f.String()] = true
					all = append(all, f)
				}
				made = true
			})
		}
	}
	return all
}

// absent is the file that a step's command begins with, if that is not on this machine; "" if it is, or if it is not known before the run.
func absent(s *runbook.Step) string {
	if s.With == nil || s.With.Get("node") != nil {
		return ""
	}
	run := s.With.Get("run")
	if run == nil || run.Kind != document.Scalar || strings.Contains(run.Text, "${{") {
		return ""
	}
	path := action.Program(run.Text)
	if _, err := os.Stat(path); path == "" || !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}
