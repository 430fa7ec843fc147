package foresee

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/trial/spec"
)

// Commands tells of commands of a timeline that name a file which is not on this machine, where they are executed. It may be made until then.
func Commands(t *spec.Trial) []Foreseen {
	var all []Foreseen
	for _, s := range t.Timeline {
		if s.Call == nil || !s.Call.Made || s.Call.Change != action.CommandName || s.Call.With.Get("node") != nil {
			continue
		}
		run := s.Call.With.Get("run")
		if run == nil || run.Kind != document.Scalar {
			continue
		}
		file, isPath := program(run.Text)
		if _, err := os.Stat(file); isPath && errors.Is(err, fs.ErrNotExist) {
			all = append(all, Foreseen{
				Of: s.Call.Name(), Why: fmt.Sprintf("there is no file %s now, as seen from the folder that Plimsoll was started in", file),
				Do: "correct the path, or write it from the root of the file system on",
			})
		}
	}
	return all
}

// program is the first word of a command, if it is the path of a file.
func program(command string) (path string, is bool) {
	words := strings.Fields(command)
	if len(words) == 0 || strings.ContainsAny(words[0], "$`'\"*?~;|&<>()=") {
		return "", false
	}
	return words[0], strings.Contains(words[0], "/")
}
